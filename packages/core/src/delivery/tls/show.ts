import type { Config } from '../../platform/config/config.ts'
import type { Sql } from '../../platform/database/database.ts'
import { withDns } from '../../platform/net/dns-lookup.ts'
import type { Dnssec, Validation } from '../../platform/net/dnssec/index.ts'
import type { Dane, HostDane } from './dane.ts'
import { isListed } from './fetch-policy.ts'
import { listTlsRules, type TlsRule, tlsDomain } from './rules.ts'
import { readPolicy, type StoredPolicy } from './sts-store.ts'
import { tlsaText } from './tlsa.ts'

/** The demands on connections for a recipient's domain, and its hosts. */
export interface DomainTls {
  readonly domain: string
  readonly rules: readonly TlsRule[]
  /** The stored MTA-STS policy; null if there is none. */
  readonly policy: StoredPolicy | null
  /** Whether the policy is in effect. */
  readonly isInEffect: boolean
  /** The hosts in its MX records; null if the DNS did not answer, or is not used. */
  readonly hosts: readonly ShownHost[] | null
  /** Whether DNSSEC_RESOLVER validates. */
  readonly dnssec: Validation
}

export interface ShownHost {
  readonly host: string
  /** Whether the MTA-STS policy lists it; null if there is none. */
  readonly isListed: boolean | null
  /** What DNSSEC and TLSA records say of its certificate; null if DANE is not used, or the MX records are not signed. */
  readonly dane: HostDane['kind'] | null
  /** Why the records could not be looked up. */
  readonly daneProblem: string | null
  /** The usable TLSA records, as in a zone file. */
  readonly records: readonly string[]
}

export interface ShowDependencies {
  readonly sql: Sql
  readonly config: Pick<Config, 'dnsServers' | 'delivery'>
  readonly dnssec: Dnssec
  readonly dane: Dane
}

/** Rules that are shown. */
const MAX_RULES = 100
/** Hosts that are looked up. */
const MAX_HOSTS = 10

/** Throws parameterInvalid: domain. */
export async function showDomainTls({ sql, config, dnssec, dane }: ShowDependencies, text: string): Promise<DomainTls> {
  const domain = tlsDomain(text)
  const [rules, stored] = await Promise.all([listTlsRules(sql, domain, MAX_RULES), readPolicy(sql, domain)])
  const isInEffect = stored !== undefined && stored.left > 0 && stored.mode !== 'none'
  const isMx = config.delivery.kind === 'mx'
  const validation = isMx ? await dnssec.check() : 'unset'
  const found = isMx ? await mxOf(domain, config, validation === 'validates' ? dnssec : undefined) : undefined
  const hosts =
    found &&
    (await Promise.all(
      found.names.slice(0, MAX_HOSTS).map(async (host) => ({
        host,
        isListed: isInEffect ? isListed(host, stored.mx) : null,
        ...shownDane(found.isSecure ? await dane.ofHost(host) : undefined),
      })),
    ))
  return { domain, rules, policy: stored ?? null, isInEffect, hosts: hosts ?? null, dnssec: validation }
}

interface FoundMx {
  readonly names: readonly string[]
  readonly isSecure: boolean
}

/** Undefined if the DNS did not answer. */
async function mxOf(
  domain: string,
  { dnsServers: servers }: Pick<Config, 'dnsServers'>,
  dnssec: Dnssec | undefined,
): Promise<FoundMx | undefined> {
  if (dnssec) {
    const answer = await dnssec.query('MX', domain)
    if (answer.kind === 'failed') return undefined
    const names = answer.kind === 'records' ? answer.values.map(({ exchange }) => exchange.toLowerCase()) : []
    return { names, isSecure: answer.isSecure }
  }
  const answer = await withDns({ servers }, (query) => query('MX', domain))
  if (answer.kind !== 'records') return undefined
  return { names: answer.values.map((value) => value.split(' ')[1]?.toLowerCase() ?? ''), isSecure: false }
}

function shownDane(dane: HostDane | undefined): Pick<ShownHost, 'dane' | 'daneProblem' | 'records'> {
  return {
    dane: dane?.kind ?? null,
    daneProblem: dane?.kind === 'failed' ? dane.problem : null,
    records: dane?.kind === 'usable' ? dane.records.map(tlsaText) : [],
  }
}
