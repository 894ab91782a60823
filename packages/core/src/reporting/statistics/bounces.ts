import { onlyRow, type SqlTransaction } from '../../platform/database/database.ts'
import { invalidParameter } from '../../platform/errors.ts'
import { type BounceClassification, classificationOf } from '../events/index.ts'
import type { Span } from './periods.ts'

export interface BouncesQuery {
  readonly accountId: number
  readonly span: Span
  /** Only bounces of this classification, counted by domain. If undefined, all bounces, counted by classification. */
  readonly classification: BounceClassification | undefined
}

/** The bounces of one day. */
export interface BouncesOfDay {
  /** `yyyy-mm-dd` in the account's time zone. */
  readonly date: string
  /** Counts by classification or by recipient domain, the highest first. */
  readonly counts: readonly { readonly name: string; readonly count: number }[]
}

/** Maximum number of bounces per response: about 150 ms of processor time. Lower with domains, which are read from the deliveries. */
const MAX_BOUNCES = { all: 25_000, withDomains: 10_000 }

/**
 * Counts the bounces and expired deliveries of a date range by day, as far as their events are stored. Days without any are omitted.
 * The statements repeat the condition of the index of notable events so that it is used. Both types are in one list, because for
 * expired deliveries alone the planner would use the index of soft bounces and read all of those. Counting is an index-only scan.
 *
 * Throws parameterInvalid (enddate).
 */
export async function countBounces(
  sql: SqlTransaction,
  { accountId, span, classification }: BouncesQuery,
): Promise<BouncesOfDay[]> {
  const most = classification === undefined ? MAX_BOUNCES.all : MAX_BOUNCES.withDomains
  const those = sql`
    e.account_id = ${accountId} and e.type in ('bounced', 'expired') and not coalesce(e.detail ? 'machine', false)
      and e.occurred_at >= ${start(sql, accountId, span.first, 0)} and e.occurred_at < ${start(sql, accountId, span.last, 1)}`
  const { count: found } = onlyRow(
    await sql<{ count: number }[]>`
      select count(*)::int as count from (select from events e where ${those} limit ${most + 1}) found`,
  )
  if (found > most) {
    const problem =
      span.first === span.last
        ? `day has more than ${most} bounces, the maximum for this call; read its events instead`
        : `date range has more than ${most} bounces; use a shorter one`
    throw invalidParameter('enddate', problem)
  }
  const domain =
    classification === undefined
      ? sql`''`
      : sql`coalesce((select f.recipient_domain from finished_deliveries f
                       where f.message_id = e.message_id and f.recipient_no = e.recipient_no), '')`
  const rows = await sql<{ date: string; class: string | null; domain: string; count: number }[]>`
    select to_char(b.day, 'YYYY-MM-DD') as date, b.class, b.domain, count(*)::int as count
      from (select (e.occurred_at at time zone a.time_zone)::date as day, e.detail->>'class' as class, ${domain} as domain
              from events e join accounts a on a.id = ${accountId} where ${those} offset 0) b
     group by b.day, b.class, b.domain`
  const counts = new Map<string, Map<string, number>>()
  for (const { date, class: bounceClass, domain, count } of rows) {
    const own = classificationOf(bounceClass ?? undefined)
    if (classification !== undefined && own !== classification) continue
    const day = counts.get(date) ?? new Map<string, number>()
    counts.set(date, day)
    const name = classification === undefined ? own : domain
    if (name !== '') day.set(name, (day.get(name) ?? 0) + count)
  }
  return [...counts]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([date, day]) => ({ date, counts: sorted(day) }))
}

/** The time when a day of the account begins, or the day after it. */
const start = (sql: SqlTransaction, accountId: number, day: string, after: 0 | 1) => sql`
  (select (${day}::text::date + ${after}::int)::timestamp at time zone time_zone from accounts where id = ${accountId})`

function sorted(day: ReadonlyMap<string, number>): BouncesOfDay['counts'] {
  return [...day]
    .map(([name, count]) => ({ name, count }))
    .sort((one, other) => other.count - one.count || (one.name < other.name ? -1 : 1))
}
