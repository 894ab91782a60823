import { promises as dns } from 'node:dns'
import {
  type Config,
  count,
  createCache,
  type Dane,
  type Dnssec,
  type DomainPolicy,
  type HostDane,
  isListed,
  isPrivateAddress,
  type Outcome,
  observe,
  type Providers,
  type Reply,
  type StsPolicies,
} from '@postrider/core'
import { cutText, MAX_KEPT_BYTES } from '../smtp/reply-reader.ts'
import { createMxLookup, daneDigest, type MxLookup, type MxRecords, withDane } from '../tls/secure-mx.ts'
import { destinationName } from './destination-name.ts'

/** A host that accepts mail for a domain. */
export interface MailHost {
  readonly name: string
  /** Lower values first (RFC 5321 5.1). */
  readonly preference: number
  /** The demands of the DNS on its certificate; undefined if there are none. */
  readonly dane?: HostDane
}

/** Where a domain's mail goes: the hosts, or the reason why there are none. */
export type NextHop =
  /**
   * `site` identifies the set of hosts: domains with the same set share connections. `destination`: what limits
   * apply to (destination-name.ts).
   */
  | {
      readonly kind: 'hosts'
      readonly site: string
      readonly destination: string
      readonly hosts: readonly MailHost[]
      /** The MTA-STS policy of the domain. If it is enforced, these are the hosts that it lists. */
      readonly policy?: DomainPolicy
      /** Identifies the demands of the DNS on the certificates of the hosts; undefined if there are none. */
      readonly dane?: string
    }
  | { readonly kind: 'failed'; readonly outcome: Outcome }

export interface Mx {
  /** Never throws: a DNS failure is an outcome. `accountId`: the one for whose mail it is looked up. */
  of(domain: string, accountId?: number): Promise<NextHop> | NextHop
  /** The host's addresses, IPv4 first; at most five. Empty if it has none that may be used. Throws the resolver's error. */
  addresses(host: string): Promise<readonly string[]>
  /** The outcome for hosts of which none has an address that can be used. Hosts that do not exist are a permanent failure, as in Postfix. */
  withoutAddress(hosts: readonly MailHost[]): Promise<Outcome>
}

/** c-ares waits this long, then twice as long: under 10 s per lookup (V68). */
const DNS = { timeout: 2500, tries: 2 }
/** Milliseconds that a DNS response is cached: short, since records change, and long enough for a busy domain. */
const ROUTE_AGE_MS = 60_000
/** Milliseconds that a failed lookup is cached: waiting deliveries fail together, and the next attempt queries again. */
const FAILURE_AGE_MS = 3000
/** Maximum number of hosts per domain and of addresses per host; bounds the cost of a domain with a thousand MX records. */
const MAX_HOSTS = 20
const MAX_ADDRESSES = 5

export interface MxOptions {
  readonly config: Pick<Config, 'dnsServers' | 'allowPrivateMx' | 'heloName'>
  readonly providers: Providers
  readonly tls: { readonly sts: Pick<StsPolicies, 'policyOf'>; readonly dnssec: Dnssec; readonly dane: Dane }
}

export function createMx({ config, providers, tls: { sts, dnssec, dane } }: MxOptions): Mx {
  const resolver = new dns.Resolver(DNS)
  if (config.dnsServers.length > 0) resolver.setServers([...config.dnsServers])
  const lookup = createMxLookup({
    dnssec,
    plain: async (domain) => ({ records: await resolver.resolveMx(domain) }),
  })
  const found = createCache<NextHop, number>({
    maxAge: ROUTE_AGE_MS,
    ageOf: (nextHop) => (isUnsettled(nextHop) ? FAILURE_AGE_MS : ROUTE_AGE_MS),
    maxEntries: 50_000,
    load: async (domain, accountId) => {
      const [hosts, policy] = await Promise.all([
        counted(findHosts({ resolver, lookup, domain, accountId, ownName: config.heloName })),
        sts.policyOf(domain).catch(() => 'unknown' as const),
      ])
      const listed =
        hosts.kind === 'failed'
          ? hosts
          : withPolicy({ ...hosts, destination: destinationName(hosts, providers) }, policy)
      return listed.kind === 'failed' ? listed : withCertificates(listed, { dane, accountId })
    },
  })
  const addresses = createCache<HostAddresses>({
    maxAge: ROUTE_AGE_MS,
    maxEntries: 50_000,
    load: async (host) => {
      const found = await findAddresses(resolver, host)
      const usable = found.filter((address) => config.allowPrivateMx || !isPrivateAddress(address))
      return { usable: usable.slice(0, MAX_ADDRESSES), isPrivate: usable.length < found.length }
    },
  })
  return {
    of: (domain, accountId) => found.get(domain, accountId),
    addresses: async (host) => (await addresses.get(host)).usable,
    withoutAddress: async (hosts) => {
      const all = await Promise.allSettled(hosts.map(async ({ name }) => addresses.get(name)))
      return unusable(hosts, all).outcome
    },
  }
}

interface HostAddresses {
  readonly usable: readonly string[]
  /** Whether it has addresses of private networks, which are not used. */
  readonly isPrivate: boolean
}

function unusable(
  hosts: readonly MailHost[],
  all: readonly PromiseSettledResult<HostAddresses>[],
): Extract<NextHop, { kind: 'failed' }> {
  const error = all.find((one) => one.status === 'rejected')?.reason as NodeJS.ErrnoException | undefined
  if (error)
    return failed('deferred', 451, '4.4.3', `DNS lookup failed for a mail host of the domain (${error.code ?? ''})`)
  const found = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  if (found.some(({ usable }) => usable.length > 0))
    return failed('deferred', 451, '4.4.3', 'no mail host of the domain has an address that the source address reaches')
  const names = hosts.map(({ name }) => name).join(', ')
  if (found.some(({ isPrivate }) => isPrivate)) {
    const text = `the mail hosts of the domain (${names}) are on private networks, and MX_PRIVATE_NETWORKS does not allow these`
    return failed('deferred', 451, '4.4.3', cutText(text, MAX_KEPT_BYTES))
  }
  const text = `no mail host of the domain exists or has an address: ${names}`
  return failed('bounced', 550, '5.4.4', cutText(text, MAX_KEPT_BYTES))
}

/** Counts a lookup in the metrics of this process. */
async function counted(finding: Promise<FoundHosts>): Promise<FoundHosts> {
  const began = performance.now()
  const found = await finding
  const result = found.kind === 'hosts' ? 'found' : found.outcome.kind === 'deferred' ? 'failed' : 'none'
  count('mx_lookups_total', { result })
  observe('mx_lookup_seconds', (performance.now() - began) / 1000, {})
  return found
}

/** The hosts under the MTA-STS policy of its domain, which may list only some of the hosts (RFC 8461 5). */
function withPolicy(
  nextHop: Hosts & Secured,
  policy: DomainPolicy | 'unknown' | undefined,
): Extract<NextHop, { kind: 'failed' }> | (Hosts & Secured) {
  if (policy === undefined) return nextHop
  if (policy === 'unknown') return failed('deferred', 451, '4.3.0', 'the MTA-STS policies could not be read')
  if (policy.mode === 'testing') return { ...nextHop, policy }
  const hosts = nextHop.hosts.filter(({ name }) => isListed(name, policy.mx))
  if (hosts.length === 0)
    return failed('deferred', 451, '4.7.5', 'the MTA-STS policy of the domain lists none of its mail hosts')
  // The destination stays that of all hosts: the limits of a provider apply to mail under any policy.
  return { ...nextHop, site: siteOf(hosts), hosts, policy }
}

/** Whether the DNS may say more soon. */
function isUnsettled(nextHop: NextHop): boolean {
  if (nextHop.kind === 'failed') return nextHop.outcome.kind === 'deferred'
  return nextHop.hosts.some(({ dane }) => dane?.kind === 'failed')
}

/** The hosts with what the TLSA records of its hosts demand (RFC 7672). */
async function withCertificates(
  { secureFor, ...nextHop }: Hosts & Secured,
  lookedUp: { readonly dane: Dane; readonly accountId: number | undefined },
): Promise<Hosts> {
  if (secureFor === undefined) return nextHop
  const hosts = await withDane(nextHop.hosts, secureFor, lookedUp)
  const digest = daneDigest(hosts)
  return digest === undefined ? nextHop : { ...nextHop, hosts, dane: digest }
}

type Resolver = InstanceType<typeof dns.Resolver>
type Hosts = Extract<NextHop, { kind: 'hosts' }>
/** `secureFor`: see MxRecords. */
interface Secured {
  readonly secureFor?: readonly string[]
}
type FoundHosts = Extract<NextHop, { kind: 'failed' }> | (Omit<Hosts, 'destination'> & Secured)

interface Question {
  readonly resolver: Resolver
  readonly lookup: MxLookup
  readonly domain: string
  readonly accountId: number | undefined
  readonly ownName: string
}

async function findHosts({ resolver, lookup, domain, accountId, ownName }: Question): Promise<FoundHosts> {
  let found: MxRecords
  try {
    found = await lookup.lookUp(domain, accountId)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? ''
    if (code === 'ENOTFOUND') return failed('bounced', 550, '5.1.2', 'the domain does not exist')
    if (code !== 'ENODATA') return failed('deferred', 451, '4.4.3', `DNS lookup failed for the domain (${code})`)
    return implicitHost(resolver, domain)
  }
  const { records, secureFor } = found
  const secured = secureFor ? { secureFor } : {}
  // A CNAME to a host without MX records: the resolver returns an empty list.
  if (records.length === 0) {
    const nextHop = await implicitHost(resolver, domain)
    return nextHop.kind === 'failed' ? nextHop : { ...nextHop, ...secured }
  }
  // RFC 7505: a single record for the root means that the domain accepts no mail.
  if (records.every(({ exchange }) => exchange === '' || exchange === '.')) {
    return failed('bounced', 556, '5.1.10', 'the domain accepts no mail (null MX)')
  }
  const hosts = hostsOf(records, ownName)
  if (hosts.length === 0)
    return failed('bounced', 550, '5.4.6', 'the MX records of the domain point back to this service')
  return { kind: 'hosts', site: siteOf(hosts), hosts, ...secured }
}

/** RFC 5321 5.1: without MX records the domain itself is the host, if it has an address. */
async function implicitHost(resolver: Resolver, domain: string): Promise<FoundHosts> {
  try {
    const addresses = await findAddresses(resolver, domain)
    if (addresses.length === 0) return failed('bounced', 550, '5.1.2', 'the domain has neither MX nor address records')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? ''
    return failed('deferred', 451, '4.4.3', `DNS lookup failed for the domain (${code})`)
  }
  const hosts = [{ name: domain, preference: 0 }]
  return { kind: 'hosts', site: siteOf(hosts), hosts }
}

/** Sorted by preference. Our own host and those after it are omitted (mail loop, RFC 5321 5.1). */
function hostsOf(records: readonly { exchange: string; priority: number }[], ownName: string): MailHost[] {
  const hosts = records
    .filter(({ exchange }) => exchange !== '' && exchange !== '.')
    .map(({ exchange, priority }) => ({ name: exchange.toLowerCase().replace(/\.$/, ''), preference: priority }))
    // Equal preferences are sorted by name, so that the limit selects the same hosts, and thus the same site, on every lookup.
    .sort((a, b) => a.preference - b.preference || (a.name < b.name ? -1 : 1))
  const own = hosts.find(({ name }) => name === ownName)
  return hosts.filter(({ preference }) => !own || preference < own.preference).slice(0, MAX_HOSTS)
}

function siteOf(hosts: readonly MailHost[]): string {
  return [...new Set(hosts.map(({ name }) => name))].sort().join(' ')
}

/** A and AAAA. Throws the resolver's error if both failed and an address may exist. */
async function findAddresses(resolver: Resolver, host: string): Promise<string[]> {
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const found = [...(v4.status === 'fulfilled' ? v4.value : []), ...(v6.status === 'fulfilled' ? v6.value : [])]
  if (found.length > 0) return found
  for (const { reason } of [v4, v6].filter((result) => result.status === 'rejected')) {
    const { code } = reason as NodeJS.ErrnoException
    if (code !== 'ENODATA' && code !== 'ENOTFOUND') throw reason
  }
  return []
}

function failed(
  kind: 'bounced' | 'deferred',
  code: number,
  enhanced: string,
  text: string,
): Extract<NextHop, { kind: 'failed' }> {
  const reply: Reply = { code, enhanced, text, own: true }
  const tried = { stage: 'mx', reply, steps: [{ step: 'mx', ms: 0, code, enhanced, text }], milliseconds: 0 } as const
  return { kind: 'failed', outcome: kind === 'bounced' ? { kind, ...tried } : { kind, indeterminate: false, ...tried } }
}
