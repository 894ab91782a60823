import type { RecordState } from '../../domains/domain.ts'
import type { AnySql } from '../../platform/database/database.ts'
import type { Complaints, DayOutcomes, Evidence, EvidenceDomain, Measure, Outcomes } from './evidence.ts'
import type { Span } from './sample-attempts.ts'

const OUTCOMES = [
  ...(['attempts', 'delivered', 'deferred', 'hard', 'soft', 'blocked', 'late', 'complained', 'unsubscribed'] as const),
]
const MAX_DOMAINS_SHOWN = 20
const MAX_MEASURES = 200
/** Stored returns that are looked at, the latest first. */
const MAX_RETURNS = 20_000

/** The rows of delivery_counts of the period. Days are those of UTC, so that older counts, which are kept by day, fit. */
function counted(sql: AnySql, { provider, source, from, until }: Span) {
  return sql`
    delivery_counts
     where provider = ${provider} and hour >= ${from.toISOString()}::text::timestamptz and hour < ${until.toISOString()}::text::timestamptz
       and (${source}::text is null or source = ${source}::text)`
}

/** Returns the sums of each day with mail, the oldest first. */
export async function readDays(sql: AnySql, span: Span): Promise<DayOutcomes[]> {
  const sums = sql.unsafe(OUTCOMES.map((name) => `sum(${name})::int as ${name}`).join(', '))
  return sql<DayOutcomes[]>`
    select to_char(hour at time zone 'UTC', 'YYYY-MM-DD') as day, ${sums} from ${counted(sql, span)} group by 1 order by 1`
}

export function sumOf(days: readonly Outcomes[]): Outcomes {
  const total = (name: (typeof OUTCOMES)[number]) => days.reduce((sum, day) => sum + day[name], 0)
  return Object.fromEntries(OUTCOMES.map((name) => [name, total(name)])) as unknown as Outcomes
}

/** Returns the share of attempts by what the sending domains' records were at their last check. */
export async function readAuthentication(sql: AnySql, span: Span): Promise<Evidence['authentication']> {
  const state = (key: ReturnType<AnySql>) => sql`coalesce(d.records->(${key})->>'state', 'unchecked')`
  const rows = await sql<(EvidenceDomain & { domainCount: number })[]>`
    with sums as (
      select domain_id, sum(attempts)::int as attempts from ${counted(sql, span)} group by domain_id having sum(attempts) > 0
    )
    select coalesce(d.name, '') as name, s.attempts, coalesce(${state(sql`'TXT ' || k.selector || '._domainkey.' || d.name`)}, 'unchecked') as dkim,
           ${state(sql`'TXT ' || d.name`)} as spf,
           case when d.return_path_host is not null then 'right' else ${state(sql`'CNAME pr-bounces.' || d.name`)} end as "returnPath",
           coalesce(g.dmarc->>'state', ${state(sql`'TXT _dmarc.' || d.name`)}) as dmarc
      from sums s
      left join domains d on d.id = s.domain_id
      left join domain_guards g on g.domain_id = d.id
      left join lateral (select selector from dkim_keys where domain_id = d.id and state = 'active' limit 1) k on true
     order by s.attempts desc, name`
  const isRight = (...states: RecordState[]) => states.includes('right')
  const total = (fits: (domain: EvidenceDomain) => boolean) =>
    rows.filter(fits).reduce((sum, { attempts }) => sum + attempts, 0)
  return {
    attempts: total(() => true),
    dkim: total(({ dkim }) => isRight(dkim)),
    spf: total(({ spf, returnPath }) => isRight(spf, returnPath)),
    dmarc: total(({ dmarc }) => isRight(dmarc)),
    domains: rows.slice(0, MAX_DOMAINS_SHOWN),
    domainCount: rows.length,
  }
}

/** Returns the reports that came back for mail of this provider, by the place of the delivery's last attempt. */
export async function readComplaints(sql: AnySql, { provider, source, from, until }: Span): Promise<Complaints> {
  const [row] = await sql<Complaints[]>`
    with looked as materialized (
      select kind, effect, message_id, recipient_no from returns
       where received_at >= ${from.toISOString()}::text::timestamptz and received_at < ${until.toISOString()}::text::timestamptz
       order by received_at desc limit ${MAX_RETURNS}
    )
    select (select count(*)::int from looked) as "lookedAt", count(*)::int as reports,
           (count(*) filter (where l.effect = 'complained'))::int as suppressed
      from looked l
     cross join lateral (
       select place from attempts where message_id = l.message_id and recipient_no = l.recipient_no order by attempt desc limit 1) a
     where l.kind = 'complaint' and l.message_id is not null and split_part(a.place, '@', 1) = ${provider}
       and (${source}::text is null or split_part(a.place, '@', 2) = ${source}::text)`
  return row as Complaints
}

/** Returns what was done in the period, the latest first: limits of the provider, and holds of accounts that sent to it. */
export async function readMeasures(sql: AnySql, span: Span): Promise<Measure[]> {
  const { provider, source, from, until } = span
  const names = source === null ? [provider] : [provider, `${provider}@${source}`]
  const atDestination = (destination: ReturnType<AnySql>) =>
    sql`(${destination} = any(${names}::text[]) or (${source}::text is null and starts_with(${destination}, ${`${provider}@`})))`
  return sql<Measure[]>`
    with senders as materialized (
      select distinct account_id from ${counted(sql, span)}
    )
    select place, account_id as "accountId", setting, value, seconds, rule, since, until from (
      select place, account_id, setting, value, seconds, rule, since, until from limit_overrides where ${atDestination(sql`place`)}
      union all
      select place, account_id, setting, value, seconds, rule, since, until from past_limits
       where until >= ${from.toISOString()}::text::timestamptz and place is not null and ${atDestination(sql`place`)}
      union all
      select null, account_id, level, rate, case when rate is not null then 3600 end, rule, since, until from account_holds
       where level <> 'warned' and account_id in (select account_id from senders)
      union all
      select place, account_id, setting, value, seconds, rule, since, until from past_limits
       where until >= ${from.toISOString()}::text::timestamptz and place is null and account_id in (select account_id from senders)
    ) measures
     where since < ${until.toISOString()}::text::timestamptz and (until is null or until >= ${from.toISOString()}::text::timestamptz)
     order by since desc, place, setting limit ${MAX_MEASURES}`
}
