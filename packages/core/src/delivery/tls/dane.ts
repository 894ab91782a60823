import { createHash } from 'node:crypto'
import { createCache } from '../../platform/cache.ts'
import type { Dnssec } from '../../platform/net/dnssec/index.ts'
import { type TlsaRecord, tlsaText, usableRecords } from './tlsa.ts'

/** The demands on the certificate of a mail host that the DNS contains, protected by DNSSEC (RFC 7672 2.2). */
export type HostDane =
  /** No demands: the host has no TLSA records, or the zone is not signed. */
  | { readonly kind: 'none' }
  | {
      readonly kind: 'usable'
      readonly records: readonly TlsaRecord[]
      /** The name of the host that the records belong to: its own, or that of its CNAME record. The first is sent as SNI. */
      readonly names: readonly string[]
      /** The digest of records and names: sessions with another digest are not used. */
      readonly digest: string
    }
  /** There are only records that are not usable: TLS is required, with any certificate. */
  | { readonly kind: 'unusable' }
  /** It could not be found out, or the answer was forged: the host must not be used. */
  | { readonly kind: 'failed'; readonly problem: string }

export interface Dane {
  /**
   * Never rejects. Knows the answer for as long as the records may be cached, between 5 and 30 seconds. `accountId`: the one for whose mail it is looked
   * up.
   */
  ofHost(host: string, accountId?: number): Promise<HostDane>
}

const MAX_AGE_MS = 30_000
const MIN_AGE_MS = 5000
const MAX_HOSTS = 20_000

interface Found {
  readonly dane: HostDane
  /** Seconds. */
  readonly ttl: number
}

const NOTHING: HostDane = { kind: 'none' }

export function createDane({ dnssec, mxPort }: { readonly dnssec: Dnssec; readonly mxPort: number }): Dane {
  const hosts = createCache<Found, number>({
    maxAge: MAX_AGE_MS,
    maxEntries: MAX_HOSTS,
    ageOf: ({ dane, ttl }) => (dane.kind === 'failed' ? MIN_AGE_MS : Math.max(MIN_AGE_MS, ttl * 1000)),
    load: (host, accountId) => find(host, accountId),
  })

  /**
   * The TLSA records of the name that the host's CNAME records lead to, or else of the host's own name. The records of hosts
   * whose addresses are not signed are not queried: some of their name servers would not answer (RFC 7672 2.2.2).
   */
  async function find(host: string, accountId: number | undefined): Promise<Found> {
    const address = await dnssec.query('A', host, accountId)
    const recordsOf = (base: string, names: readonly string[], ttl: number): Promise<Found> =>
      tlsaOf(base, names, { ttl, accountId })
    if (address.kind === 'failed') return failed('the address', host, address.problem)
    if (address.isSecure) {
      const expanded = await recordsOf(address.name, [address.name, host], address.ttl)
      if (expanded.dane.kind !== 'none' || address.name === host) return expanded
      return recordsOf(host, [host], address.ttl)
    }
    if (address.name === host) return { dane: NOTHING, ttl: address.ttl }
    const alias = await dnssec.query('CNAME', host, accountId)
    if (alias.kind === 'failed') return failed('the address', host, alias.problem)
    return alias.isSecure ? recordsOf(host, [host], alias.ttl) : { dane: NOTHING, ttl: alias.ttl }
  }

  async function tlsaOf(
    base: string,
    names: readonly string[],
    { ttl, accountId }: { readonly ttl: number; readonly accountId: number | undefined },
  ): Promise<Found> {
    const answer = await dnssec.query('TLSA', `_${mxPort}._tcp.${base}`, accountId)
    if (answer.kind === 'failed') return failed('the TLSA records', base, answer.problem)
    const age = Math.min(ttl, answer.ttl)
    if (answer.kind === 'none' || !answer.isSecure) return { dane: NOTHING, ttl: age }
    const records = usableRecords(answer.values)
    if (records.length === 0) return { dane: { kind: 'unusable' }, ttl: age }
    return { dane: usable(records, [...new Set(names)]), ttl: age }
  }

  return { ofHost: async (host, accountId) => (await hosts.get(host, accountId)).dane }
}

function failed(what: string, name: string, problem: string): Found {
  return {
    dane: { kind: 'failed', problem: `${what} of ${name} could not be looked up with DNSSEC (${problem})` },
    ttl: 0,
  }
}

function usable(records: readonly TlsaRecord[], names: readonly string[]): HostDane {
  const text = [...names, ...records.map(tlsaText)].join('\n')
  return { kind: 'usable', records, names, digest: createHash('sha256').update(text).digest('hex').slice(0, 32) }
}

/**
 * The host's records for mail to a domain. A certificate that an authority has signed (DANE-TA) may also be for the domain, or for the name
 * that its CNAME record leads to (RFC 7672 3.2.2): sessions are then not shared with other domains.
 */
export function daneFor(dane: HostDane, domains: readonly string[]): HostDane {
  if (dane.kind !== 'usable' || !dane.records.some(({ usage }) => usage === 2)) return dane
  return usable(dane.records, [...new Set([...dane.names, ...domains])])
}
