import { promises as dns } from 'node:dns'
import type { Config } from '../../platform/config/config.ts'
import { printableValue } from '../../platform/net/dns-lookup.ts'
import { createOutboundHttp, OutboundError } from '../../platform/net/outbound-http.ts'
import type { FetchedPolicy, StsMode } from './sts-store.ts'

/** The DNS and the policy hosts of domains (RFC 8461). */
export interface PolicySource {
  /** The id of the domain's TXT record; null if it has none, undefined if that could not be found out. */
  idOf(domain: string): Promise<string | null | undefined>
  fetch(domain: string, id: string): Promise<FetchedPolicy | { readonly error: string }>
}

const DNS = { timeout: 2500, tries: 2 }
/** Bytes of a policy and its maximum number of mx lines: a policy with 100 names of the greatest length has 26 KB. */
const MAX_POLICY = 32 * 1024
const MAX_MX = 100
/** Every network, for MX_PRIVATE_NETWORKS=allow. */
const EVERYWHERE = ['0.0.0.0/0', '::/0']

/**
 * Policies are fetched by the client for hosts that others name: addresses on private networks are left out, redirects are not followed,
 * and size, time and interim responses are bounded. mailauth reads record and policy; it is loaded when it is first needed.
 */
export function createPolicySource(config: Pick<Config, 'dnsServers' | 'allowPrivateMx'>): PolicySource {
  const resolver = new dns.Resolver(DNS)
  if (config.dnsServers.length > 0) resolver.setServers([...config.dnsServers])
  const http = createOutboundHttp({
    dnsServers: config.dnsServers,
    outboundNetworks: config.allowPrivateMx ? EVERYWHERE : [],
    outboundPorts: [443],
  })

  return {
    async idOf(domain) {
      let texts: string[][]
      try {
        texts = await resolver.resolveTxt(`_mta-sts.${domain}`)
      } catch (error) {
        const { code = '' } = error as NodeJS.ErrnoException
        return code === 'ENOTFOUND' || code === 'ENODATA' || code === 'EBADNAME' ? null : undefined
      }
      const { resolvePolicy } = await import('mailauth/lib/mta-sts.js')
      const resolve = async (): Promise<string[][]> => texts
      // Two records are as good as none (RFC 8461 3.1).
      const id = await resolvePolicy(domain, { strict: true, resolver: resolve }).catch(() => false as const)
      return id === false ? null : id
    },

    async fetch(domain, id) {
      try {
        const url = `https://mta-sts.${domain}/.well-known/mta-sts.txt`
        const { status, contentType, body, truncated } = await http.request({
          url,
          method: 'GET',
          answerLimit: MAX_POLICY,
        })
        if (status !== 200) return { error: `the policy host responded with status ${status}` }
        if (contentType.split(';', 1)[0]?.trim().toLowerCase() !== 'text/plain')
          return { error: 'the policy is not text/plain' }
        if (truncated) return { error: `the policy is longer than ${MAX_POLICY} bytes, or incomplete` }
        return await parse(body, id)
      } catch (error) {
        if (error instanceof OutboundError) return { error: `could not fetch the policy: ${error.message}` }
        throw error
      }
    },
  }
}

async function parse(body: Buffer, policyId: string): Promise<FetchedPolicy | { readonly error: string }> {
  // Counted first: mailauth compares each name with all before it.
  if (body.toString('latin1').split('\nmx').length > MAX_MX + 1)
    return { error: `the policy has more than ${MAX_MX} mx lines` }
  const { parsePolicy } = await import('mailauth/lib/mta-sts.js')
  try {
    const { mode, mx = [], maxAge } = parsePolicy(body, { strict: true })
    return { policyId, mode: mode as StsMode, mx, maxAge }
  } catch (error) {
    return { error: `the policy is not valid: ${printableValue((error as Error).message)}` }
  }
}

/** Whether a policy lists a host: a wildcard stands for one label (RFC 8461 4.1). */
export function isListed(host: string, patterns: readonly string[]): boolean {
  const rest = host.slice(host.indexOf('.'))
  return patterns.some((pattern) => pattern === host || (pattern.startsWith('*.') && pattern.slice(1) === rest))
}
