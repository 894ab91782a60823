import type { Sql, SqlTransaction } from '../../platform/database/database.ts'
import { withDeadline } from '../../platform/database/deadlines.ts'
import { BUCKETS } from './delivery-times.ts'
import { METRICS, SUBJECTS, type Subject, WEEK } from './metrics.ts'

/** Names of a subject on a day above which they are summed. A year of fewer is read in some 100 ms. */
const MANY = 100

interface Due {
  readonly accountId: number
  readonly subject: Subject
  /** The first day that is not summed. */
  readonly from: string
  /** The day after the last one to be summed, at most a week later: a Monday, or the account's present day. */
  readonly to: string
  /** The week that is over then, if any. */
  readonly monday: string | null
}

/**
 * Sums the rollups of one account and subject over the days, and the week, that are over, if it has many names: statistics by name are then
 * read from few rows (parts.ts). Returns whether there may be more.
 */
export async function sumSome(sql: Sql): Promise<boolean> {
  const [due] = await selectDue(sql)
  if (!due) return (await addAccounts(sql)) > 0
  await withDeadline(sql, 'long').begin(async (transaction) => {
    await lockCounting(transaction)
    const [still] = await selectDue(transaction, due)
    if (still) await sum(transaction, still)
  })
  return true
}

function selectDue(sql: Sql | SqlTransaction, only?: Pick<Due, 'accountId' | 'subject'>) {
  return sql<Due[]>`
    select *, case when extract(isodow from "to"::date) = 1 then to_char("to"::date - 7, 'YYYY-MM-DD') end as monday
      from (select s.account_id as "accountId", s.subject, to_char(s.through, 'YYYY-MM-DD') as "from",
                   to_char(least(date_trunc('week', s.through)::date + 7, today.day), 'YYYY-MM-DD') as "to"
              from roll_up_sums s join accounts a on a.id = s.account_id
             cross join lateral (select (service_now() at time zone a.time_zone)::date as day) today
             where s.through < today.day
               ${only ? sql`and s.account_id = ${only.accountId} and s.subject = ${only.subject}` : sql``}
             order by s.through limit 1) due`
}

/** Waits for a batch that is being counted, and prevents another one until commit. */
async function lockCounting(sql: SqlTransaction): Promise<void> {
  await sql`select from event_cursors where name = 'numbers' for update`
}

const columns = METRICS.join(', ')
const summed = METRICS.map((metric) => `sum(${metric}::float8)::bigint as ${metric}`).join(', ')
const times = Array.from(
  { length: BUCKETS },
  (_, at) => `least(coalesce(sum(delivery_times[${at + 1}]), 0), 2147483647)`,
)
const summedTimes = `case when count(delivery_times) > 0 then array[${times.join(', ')}]::integer[] end as delivery_times`

async function sum(sql: SqlTransaction, { accountId, subject, from, to, monday }: Due): Promise<void> {
  const write = sql.unsafe
  const rows = (first: string) => sql`
    roll_ups where account_id = ${accountId} and subject = any(${[subject, `other ${subject}`]}::text[])
               and day >= ${first}::text::date and day < ${to}::text::date`
  await sql`
    insert into roll_ups (account_id, subject, name, day, ${write(columns)}, delivery_times)
    select account_id, ${`all ${subject}`}, '', day, ${write(summed)}, ${write(summedTimes)} from ${rows(from)} group by account_id, day`
  if (monday !== null)
    await sql`
      insert into roll_ups (account_id, subject, name, day, ${write(columns)}, delivery_times)
      select account_id, subject || ${WEEK}::text, name, ${monday}::text::date, ${write(summed)}, ${write(summedTimes)}
        from ${rows(monday)} group by account_id, subject, name`
  await sql`
    update roll_up_sums set through = ${to}::text::date where account_id = ${accountId} and subject = ${subject}`
}

/** Finds accounts that had many names yesterday. Returns how many. */
async function addAccounts(sql: Sql): Promise<number> {
  const added = await sql`
    insert into roll_up_sums (account_id, subject, through)
    select a.id, wanted.subject, date_trunc('week', earliest.day)::date
      from accounts a cross join unnest(${[...SUBJECTS]}::text[]) wanted(subject)
     cross join lateral (
       select from roll_ups where account_id = a.id and subject = wanted.subject and day = (service_now() at time zone a.time_zone)::date - 1
       offset ${MANY} limit 1) many
     cross join lateral (
       select day from roll_ups where account_id = a.id and subject = wanted.subject order by day limit 1) earliest
     where not exists (select from roll_up_sums s where s.account_id = a.id and s.subject = wanted.subject)
    on conflict do nothing`
  return added.count
}

/**
 * Takes back the sums of an account from the week of a day on, or all of them, before that day is counted again. To be called with counting
 * locked.
 */
export async function takeBackSums(
  sql: SqlTransaction,
  { accountId, day, before }: { readonly accountId: number; readonly day: string; readonly before: boolean },
): Promise<void> {
  const subjects = SUBJECTS.flatMap((one) => [`all ${one}`, `${one}${WEEK}`, `other ${one}${WEEK}`])
  const monday = sql`date_trunc('week', ${day}::text::timestamp)::date`
  const moved = await sql`
    update roll_up_sums set through = least(through, ${monday}) where account_id = ${accountId}`
  if (moved.count === 0) return
  await sql`
    delete from roll_ups where account_id = ${accountId} and subject = any(${subjects}::text[])
       and day >= ${before ? sql`date '-infinity'` : monday}`
}
