import type { Config } from '../../platform/config/config.ts'
import { withDns } from '../../platform/net/dns-lookup.ts'
import { plainName } from '../sources/checks/record-check.ts'
import { createPolicySource, isListed } from './fetch-policy.ts'
import type { StsMode } from './sts-store.ts'

/** The MTA-STS policy of a domain that receives mail, as senders see it (RFC 8461). */
export type IncomingPolicy =
  /** It has none, or nothing is known because the DNS did not respond. */
  | { readonly kind: 'none' | 'unknown' }
  | { readonly kind: 'broken'; readonly problem: string }
  /** `unlisted`: its mail hosts that the policy does not list. */
  | { readonly kind: 'policy'; readonly mode: StsMode; readonly unlisted: readonly string[] }

export interface IncomingPolicyOptions {
  readonly config: Pick<Config, 'dnsServers' | 'allowPrivateMx'>
  /** Milliseconds after which lookups are given up. */
  readonly deadlineMs: number
}

/** Fetches the policy and compares it with the MX records of the domain; without those, the domain itself is the host (RFC 5321 5.1). */
export async function readIncomingPolicy(
  domain: string,
  { config, deadlineMs }: IncomingPolicyOptions,
): Promise<IncomingPolicy> {
  const source = createPolicySource(config)
  const id = await source.idOf(domain)
  if (id === undefined) return { kind: 'unknown' }
  if (id === null) return { kind: 'none' }
  const policy = await source.fetch(domain, id)
  if ('error' in policy) return { kind: 'broken', problem: policy.error }
  const answer = await withDns({ servers: config.dnsServers, deadlineMs }, (query) => query('MX', domain))
  if (answer.kind === 'unanswered') return { kind: 'unknown' }
  // A null MX (RFC 7505) names no host.
  const named = answer.values.map((value) => plainName(value.split(' ')[1] ?? '')).filter(Boolean)
  const hosts = answer.values.length === 0 ? [domain] : named
  return { kind: 'policy', mode: policy.mode, unlisted: hosts.filter((host) => !isListed(host, policy.mx)) }
}
