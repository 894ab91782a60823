import { createCache } from '../../platform/cache.ts'
import type { Config } from '../../platform/config/config.ts'
import type { AnySql, Sql } from '../../platform/database/database.ts'
import { storableJson } from '../../platform/database/storable.ts'
import { withDns } from '../../platform/net/dns-lookup.ts'
import { readPolicy } from './sts-store.ts'
import { parseTlsRpt } from './tlsrpt-record.ts'

/** Results of sessions (RFC 8460 4.3). */
export const TLS_RESULTS = [
  'starttls-not-supported',
  'certificate-host-mismatch',
  'certificate-expired',
  'certificate-not-trusted',
  'validation-failure',
  'tlsa-invalid',
  'dnssec-invalid',
  'dane-required',
  'sts-policy-fetch-error',
  'sts-policy-invalid',
  'sts-webpki-invalid',
] as const

export type TlsResult = (typeof TLS_RESULTS)[number]

/** A session that was opened for mail to a domain, or that could not be opened because of TLS. */
export interface TlsSession {
  readonly policyType: 'tlsa' | 'sts' | 'no-policy-found'
  /** Undefined if it was successful. */
  readonly result: TlsResult | undefined
  readonly mx: string
  /** The address that the host saw; undefined without a source. */
  readonly sendingIp?: string | undefined
  /** The address of the host. */
  readonly receivingIp?: string
}

export interface TlsResults {
  /** Counts a session in memory. Does nothing if no reports are sent. */
  count(domain: string, session: TlsSession): void
  /** Stores what was counted for domains that ask for reports; the rest is left out. */
  flush(): Promise<void>
  /** Deletes what is older than a week. Returns how many rows. */
  forgetOld(): Promise<number>
}

/** Bounds of what is counted between two flushes, and of what is stored for a day. Further sessions of a domain are counted without host. */
const MAX_DOMAINS = 10_000
const MAX_ROWS_OF_DOMAIN = 100
const MAX_REPORTS_A_DAY = 10_000
/** Milliseconds for which it is known whether a domain asks for reports. */
const RECORD_AGE_MS = 86_400_000
const FAILED_AGE_MS = 600_000
const LOOKUPS_AT_ONCE = 20
const RETENTION_DAYS = 7

export interface TlsResultsOptions {
  readonly sql: Sql
  readonly config: Pick<Config, 'dnsServers' | 'delivery' | 'serviceDomain'>
}

export function createTlsResults({ sql, config }: TlsResultsOptions): TlsResults {
  const isOn = config.delivery.kind === 'mx' && config.serviceDomain !== undefined
  let counted = new Map<string, Map<string, { readonly session: TlsSession; sessions: number }>>()
  const records = createCache<readonly string[] | 'unanswered'>({
    maxAge: RECORD_AGE_MS,
    ageOf: (found) => (found === 'unanswered' ? FAILED_AGE_MS : RECORD_AGE_MS),
    maxEntries: 50_000,
    load: async (domain) => {
      const answer = await withDns({ servers: config.dnsServers }, (query) => query('TXT', `_smtp._tls.${domain}`))
      if (answer.kind === 'unanswered') return answer.kind
      return answer.kind === 'records' ? parseTlsRpt(answer.values) : []
    },
  })

  async function flush(): Promise<void> {
    if (counted.size === 0) return
    const all = [...counted]
    counted = new Map()
    for (let at = 0; at < all.length; at += LOOKUPS_AT_ONCE) {
      const some = all.slice(at, at + LOOKUPS_AT_ONCE)
      const found = await Promise.all(
        some.map(async ([domain, rows]) => {
          const rua = await records.get(domain)
          return { domain, rows, rua: rua === 'unanswered' ? [] : rua }
        }),
      )
      const wanted = found.filter(({ rua }) => rua.length > 0)
      if (wanted.length > 0) await store(sql, await Promise.all(wanted.map((one) => withFetchFailure(sql, one))))
    }
  }

  return {
    count(domain, session) {
      if (!isOn) return
      const rows = counted.get(domain) ?? new Map()
      if (rows.size === 0) {
        if (counted.size >= MAX_DOMAINS) return
        counted.set(domain, rows)
      }
      const { policyType, result, mx, sendingIp, receivingIp } = session
      const whole = `${policyType} ${result} ${mx} ${sendingIp} ${receivingIp}`
      const isListed = rows.has(whole) || rows.size < MAX_ROWS_OF_DOMAIN
      const [key, kept] = isListed ? [whole, session] : [`${policyType} ${result}`, { policyType, result, mx: '' }]
      const row = rows.get(key)
      if (row) row.sessions++
      else rows.set(key, { session: kept, sessions: 1 })
    },
    flush,
    async forgetOld() {
      const days = await sql`
        delete from tls_report_days where day < (service_now() at time zone 'UTC')::date - ${RETENTION_DAYS}::int`
      const rows = await sql`
        delete from tls_results where day < (service_now() at time zone 'UTC')::date - ${RETENTION_DAYS}::int`
      const failures = await sql`
        delete from tls_failures where day < (service_now() at time zone 'UTC')::date - ${RETENTION_DAYS}::int`
      return days.count + rows.count + failures.count
    },
  }
}

/** Sessions without a policy count as failures if there is one that could not be fetched. */
async function withFetchFailure(sql: AnySql, counted: Counted): Promise<Counted> {
  const policy = await readPolicy(sql, counted.domain)
  if (!policy || policy.error === null || (policy.left > 0 && policy.mode !== 'none')) return counted
  const result = fetchResult(policy.error)
  const rows = [...counted.rows].map(([key, { session, sessions }]) => {
    const isWithout = session.policyType === 'no-policy-found' && session.result === undefined
    return [
      key,
      { session: isWithout ? { ...session, policyType: 'sts' as const, result } : session, sessions },
    ] as const
  })
  return { ...counted, rows: new Map(rows) }
}

/** By the stored messages of fetch-policy.ts. */
function fetchResult(error: string): TlsResult {
  if (error.includes('trusted TLS connection')) return 'sts-webpki-invalid'
  return /^the policy (?:is|has)\b/.test(error) ? 'sts-policy-invalid' : 'sts-policy-fetch-error'
}

interface Counted {
  readonly domain: string
  readonly rua: readonly string[]
  readonly rows: ReadonlyMap<string, { readonly session: TlsSession; readonly sessions: number }>
}

/** In the order of domains, so that workers do not wait for each other in a circle. The report is due up to four hours after the day. */
async function store(sql: AnySql, all: readonly Counted[]): Promise<void> {
  const sorted = [...all].sort((a, b) => (a.domain < b.domain ? -1 : 1))
  const days = sorted.map(({ domain, rua }) => ({ domain, rua }))
  const rows = sorted
    .flatMap(({ domain, rows }) =>
      [...rows.values()].map(({ session: { policyType, result = '', mx, sendingIp, receivingIp }, sessions }) => {
        return { domain, type: policyType, result, mx, from: sendingIp ?? '', to: receivingIp ?? '', sessions }
      }),
    )
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  await sql`
    with today as materialized (
      select (service_now() at time zone 'UTC')::date as day
    ), stored as materialized (
      select count(*) as reports from (select from tls_report_days d, today where d.day = today.day limit ${MAX_REPORTS_A_DAY}::int) u
    ), given as (
      select d.domain, array(select json_array_elements_text(d.rua)) as rua
        from json_to_recordset(${storableJson(days)}::text::json) as d(domain text, rua json)
    ), days as (
      insert into tls_report_days (day, policy_domain, rua, due_at)
      select today.day, given.domain, given.rua,
             (today.day + 1)::timestamp at time zone 'UTC' + make_interval(secs => 600 + random() * 14400)
        from given, today, stored where stored.reports < ${MAX_REPORTS_A_DAY}::int
      on conflict do nothing returning policy_domain
    ), known as (
      select policy_domain from days
      union select d.policy_domain from tls_report_days d, today, given where d.day = today.day and d.policy_domain = given.domain
    ), counted as materialized (
      select today.day, c.*
        from json_to_recordset(${storableJson(rows)}::text::json)
             as c(domain text, type text, result text, mx text, "from" text, "to" text, sessions bigint)
        join known on known.policy_domain = c.domain, today
    ), failures as (
      insert into tls_failures as f (day, policy_domain, policy_type, result, mx, sending_ip, receiving_ip, sessions)
      select day, domain, type, result, mx, "from", "to", sessions from counted where result <> ''
       order by domain, type, result, mx, "from", "to"
      on conflict (day, policy_domain, policy_type, result, mx, sending_ip, receiving_ip)
      do update set sessions = f.sessions + excluded.sessions
    )
    insert into tls_results as r (day, policy_domain, policy_type, result, mx, sessions)
    select day, domain, type, result, mx, sum(sessions) from counted
     group by day, domain, type, result, mx order by domain, type, result, mx
    on conflict (day, policy_domain, policy_type, result, mx) do update set sessions = r.sessions + excluded.sessions`
}
