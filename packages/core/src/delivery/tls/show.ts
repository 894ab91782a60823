import type { Config } from '../../platform/config.ts'
import type { Sql } from '../../platform/database/database.ts'
import { withDns } from '../../platform/dns-lookup.ts'
import { isListed } from './fetch-policy.ts'
import { listTlsRules, type TlsRule, tlsDomain } from './rules.ts'
import { readPolicy, type StoredPolicy } from './sts-store.ts'

/** The demands on connections for a recipient's domain, and its hosts. */
export interface DomainTls {
  readonly domain: string
  readonly rules: readonly TlsRule[]
  /** The stored MTA-STS policy; null if there is none. */
  readonly policy: StoredPolicy | null
  /** Whether the policy is in effect. */
  readonly isInEffect: boolean
  /** The hosts in its MX records; null if the DNS did not answer, or is not used. */
  readonly hosts: readonly { readonly host: string; readonly isListed: boolean | null }[] | null
}

/** Rules that are shown. */
const MAX_RULES = 100

/** Throws parameterInvalid: domain. */
export async function showDomainTls(
  sql: Sql,
  text: string,
  { dnsServers: servers, delivery }: Pick<Config, 'dnsServers' | 'delivery'>,
): Promise<DomainTls> {
  const domain = tlsDomain(text)
  const [rules, stored] = await Promise.all([listTlsRules(sql, domain, MAX_RULES), readPolicy(sql, domain)])
  const isInEffect = stored !== undefined && stored.left > 0 && stored.mode !== 'none'
  const answer = delivery.kind === 'mx' ? await withDns({ servers }, (query) => query('MX', domain)) : undefined
  const names =
    answer?.kind === 'records' ? answer.values.map((value) => value.split(' ')[1]?.toLowerCase() ?? '') : undefined
  const hosts = names?.map((host) => ({ host, isListed: isInEffect ? isListed(host, stored.mx) : null })) ?? null
  return { domain, rules, policy: stored ?? null, isInEffect, hosts }
}
