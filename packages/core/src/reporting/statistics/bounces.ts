import { onlyRow, type SqlTransaction } from '../../platform/database/database.ts'
import { invalidParameter } from '../../platform/errors.ts'
import { type BounceClassification, classificationOf } from '../events/index.ts'
import type { Span } from './periods.ts'

export interface BouncesQuestion {
  readonly accountId: number
  readonly span: Span
  /** Only bounces of this one, counted by domain. Undefined: all, counted by classification. */
  readonly classification: BounceClassification | undefined
}

/** The bounces of one day, those of which there are most first. */
export interface BouncesOfDay {
  /** `yyyy-mm-dd` in the account's time zone. */
  readonly date: string
  /** By classification, or by recipient domain. */
  readonly counts: readonly { readonly name: string; readonly count: number }[]
}

/** Bounces one answer looks at, as many as take some 150 ms of processor time; with domains fewer, as each is read from its delivery. */
const MAX_BOUNCES = { all: 25_000, withDomains: 10_000 }

/**
 * Counts the bounces and expiries of some days, as far as their events are kept; days without any are left out. Read by the index of
 * notable events, whose condition the statements repeat: both types in one list, as for expiries alone the planner takes the index of
 * soft bounces, and reads each of those. How many there are is asked of the index alone.
 *
 * Throws parameterInvalid (enddate).
 */
export async function countBounces(
  sql: SqlTransaction,
  { accountId, span, classification }: BouncesQuestion,
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

/** When a day of the account begins, or the one after. */
const start = (sql: SqlTransaction, accountId: number, day: string, after: 0 | 1) => sql`
  (select (${day}::text::date + ${after}::int)::timestamp at time zone time_zone from accounts where id = ${accountId})`

function sorted(day: ReadonlyMap<string, number>): BouncesOfDay['counts'] {
  return [...day]
    .map(([name, count]) => ({ name, count }))
    .sort((one, other) => other.count - one.count || (one.name < other.name ? -1 : 1))
}
