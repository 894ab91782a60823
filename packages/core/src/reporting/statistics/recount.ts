import { onlyRow, type Sql, type SqlTransaction } from '../../platform/database/database.ts'
import { withDeadline } from '../../platform/database/deadlines.ts'
import { invalidParameter } from '../../platform/errors.ts'
import { SUBJECTS } from './metrics.ts'
import { requireSpan, type Span } from './periods.ts'
import { addEvents } from './rollup.ts'
import { takeBackSums } from './sum-names.ts'

export interface RecountRequest {
  readonly accountId: number
  /** `yyyy-mm-dd` in the account's current time zone; undefined for the first day whose events are all stored. */
  readonly first?: string | undefined
  /** Inclusive; undefined for today. */
  readonly last?: string | undefined
  /** Called after each day. */
  readonly onDay?: ((day: string) => void) | undefined
}

/** Maximum days of a recount. Events are retained for less. */
const MAX_DAYS = 3660

/**
 * Recomputes the rollups of a date range from the events, with one transaction per day. Returns the date range; null if there are
 * no events. While a day is being counted no events get sequence numbers, so the result is exact even with concurrent workers.
 *
 * Throws dateInvalid, datesReversed or parameterInvalid (account; from: a day whose events or messages are no longer all stored).
 */
export async function recount(sql: Sql, { accountId, first, last, onDay }: RecountRequest): Promise<Span | null> {
  const kept = await keptSince(sql, accountId)
  if (kept.since === null && first === undefined) return null
  const span = { first: first ?? kept.since ?? kept.today, last: last ?? kept.today }
  requireSpan(span, MAX_DAYS)
  const days = await sql<{ day: string }[]>`
    select to_char(day, 'YYYY-MM-DD') as day
      from generate_series(${span.first}::text::timestamp, ${span.last}::text::timestamp, interval '1 day') day`
  for (const { day } of days) {
    // If no events were ever deleted, rollups before the first day or after today stem from another time zone: recompute them too.
    const before = day === kept.since && kept.whole
    const after = day === kept.today
    await withDeadline(sql, 'long').begin((transaction) => recountDay(transaction, accountId, { day, before, after }))
    onDay?.(day)
  }
  return span
}

interface Kept {
  /** In the account's current time zone, like `since`. */
  readonly today: string
  /** The first day whose events are all stored; null if there are none. */
  readonly since: string | null
  /** Whether no events were ever deleted. */
  readonly whole: boolean
}

async function keptSince(sql: Sql, accountId: number): Promise<Kept> {
  const [kept] = await sql<Kept[]>`
    select to_char(service_now() at time zone a.time_zone, 'YYYY-MM-DD') as today, coalesce(p.first_number = 1, true) as whole,
           to_char(
             case when p.first_number = 1
                  -- Numbers are not in order of time. The first event is in the earliest week, so only that is read.
                  then (select (min(e.occurred_at) at time zone a.time_zone)::date
                          from (select min(week) as week from event_pages where account_id = a.id) earliest
                         cross join lateral (
                           select occurred_at from events
                            where account_id = a.id and occurred_at >= earliest.week
                              and occurred_at < earliest.week + interval '7 days') e)
                  -- The first day that begins in a stored week.
                  else ((p.week at time zone a.time_zone) + interval '1 day' - interval '1 microsecond')::date end,
             'YYYY-MM-DD') as since
      from accounts a
      left join lateral (
        select first_number, week from event_pages where account_id = a.id order by first_number limit 1) p on true
     where a.id = ${accountId}`
  if (!kept) throw invalidParameter('account', 'does not exist')
  return kept
}

interface DayToCount {
  readonly day: string
  /** Whether all earlier, or all later, days are counted with it. */
  readonly before: boolean
  readonly after: boolean
}

async function recountDay(sql: SqlTransaction, accountId: number, { day, before, after }: DayToCount): Promise<void> {
  // A day with ten million events takes minutes.
  await sql`set local statement_timeout = 0`
  // Waits for a batch that is being counted, and prevents another one until commit.
  const { transaction } = onlyRow(
    await sql<{ transaction: string }[]>`
      select transaction::text from event_cursors where name = 'numbers' for update`,
  )
  const { from, to } = onlyRow(
    await sql<{ from: Date; to: Date }[]>`
      select ${day}::text::timestamp at time zone time_zone as "from",
             (${day}::text::timestamp + interval '1 day') at time zone time_zone as "to"
        from accounts where id = ${accountId}`,
  )
  await requireKept(sql, { accountId, day, from, to, transaction })
  await takeBackSums(sql, { accountId, day, before })
  await sql`
    delete from roll_ups
     where account_id = ${accountId} and subject = any(${['total', ...SUBJECTS, ...SUBJECTS.map((one) => `other ${one}`)]}::text[])
       and day between ${before ? '-infinity' : day}::text::date and ${after ? 'infinity' : day}::text::date`
  await addEvents(
    sql,
    sql`e.account_id = ${accountId} and e.transaction <= ${transaction}::xid8
        and e.occurred_at >= ${before ? '-infinity' : from.toISOString()}::text::timestamptz
        and e.occurred_at < ${after ? 'infinity' : to.toISOString()}::text::timestamptz`,
  )
}

interface Day {
  readonly accountId: number
  readonly day: string
  readonly from: Date
  readonly to: Date
  readonly transaction: string
}

/**
 * Checks that all events of a day are stored: its weeks are not older than the first page, they contain as many events as their
 * pages count, and the message of every event is stored. Throws parameterInvalid (from).
 */
async function requireKept(sql: SqlTransaction, { accountId, day, from, to, transaction }: Day): Promise<void> {
  const [kept] = await sql<{ events: boolean; messages: boolean }[]>`
    select coalesce((select first_number = 1 or week <= ${from} from event_pages
                      where account_id = ${accountId} order by first_number limit 1), true)
           and not exists (
             select from (select week, sum(count) as count from event_pages where account_id = ${accountId}
                             and week > ${from}::timestamptz - interval '7 days' and week < ${to} group by week) had
              where had.count <> (select count(*) from events where account_id = ${accountId}
                                     and occurred_at >= had.week and occurred_at < had.week + interval '7 days'
                                     and transaction <= ${transaction}::xid8)) as events,
           not exists (
             select from events e where e.account_id = ${accountId} and e.occurred_at >= ${from} and e.occurred_at < ${to}
                and e.message_id is not null
                and (select true from messages m where m.id = e.message_id limit 1) is null) as messages`
  if (!kept?.events) throw invalidParameter('from', `some events of ${day} have been deleted`)
  if (!kept.messages) throw invalidParameter('from', `some messages of ${day} have been deleted`)
}
