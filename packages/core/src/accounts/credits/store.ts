import { type AnySql, onlyRow } from '../../platform/database/database.ts'
import {
  type Credit,
  type CreditSpan,
  type CreditUsage,
  type HeldCredit,
  type RecurringCredit,
  UNLIMITED,
} from './credit.ts'

interface CreditRow {
  readonly accountId: number
  readonly balance: number
  readonly amount: number | null
  readonly every: RecurringCredit['every']
  readonly from: string
  readonly until: string
  readonly active: boolean
  readonly left: number
}

const columns = (sql: AnySql) => sql`
  b.account_id as "accountId", b.balance::float8 as balance, b.recurring_amount::float8 as amount, b.recurring_every as every,
  b.recurring_from::text as "from", b.recurring_until::text as until, b.recurring_active as active, recurring_left(b)::float8 as left`

function asCredit({ balance, amount, every, from, until, active, left }: CreditRow): Credit {
  const recurring = amount === null ? null : { amount, every, from, until, active, left }
  return { limited: true, available: balance + left, oneTime: balance, recurring }
}

export async function selectCredit(sql: AnySql, accountId: number): Promise<Credit> {
  const [row] = await sql<CreditRow[]>`select ${columns(sql)} from credit_balances b where account_id = ${accountId}`
  return row ? asCredit(row) : UNLIMITED
}

export async function accountExists(sql: AnySql, accountId: number): Promise<boolean> {
  return (await sql`select from accounts where id = ${accountId}`).count > 0
}

/**
 * Locks the balances of accounts until the end of the transaction, in the order used by all writers. Accepts of these
 * accounts wait for the lock. Unlimited accounts are missing in the result.
 */
export async function lockCredits(sql: AnySql, accountIds: readonly number[]): Promise<Map<number, Credit>> {
  const rows = await sql<CreditRow[]>`
    select ${columns(sql)} from credit_balances b where account_id = any(${[...accountIds]}::int[])
     order by account_id for update`
  return new Map(rows.map((row) => [row.accountId, asCredit(row)]))
}

/** Limits an unlimited account, with a balance of 0. */
export async function insertBalance(sql: AnySql, accountId: number): Promise<void> {
  await sql`insert into credit_balances (account_id) values (${accountId}) on conflict do nothing`
}

/** Adds to the balance of a limited account. A negative `amount` must not exceed the balance. */
export async function addToBalance(sql: AnySql, accountId: number, amount: number): Promise<void> {
  await sql`update credit_balances set balance = balance + ${amount}::bigint where account_id = ${accountId}`
}

export async function updateBalance(sql: AnySql, accountId: number, balance: number): Promise<void> {
  await sql`update credit_balances set balance = ${balance}::bigint where account_id = ${accountId}`
}

/** Notes the balance of a limited account as what a person has granted. To be called after each change by one. */
export async function noteGrant(sql: AnySql, accountId: number): Promise<void> {
  await sql`update credit_balances set granted = balance, granted_at = service_now() where account_id = ${accountId}`
}

/** Returns the one-time credit after the last change by a person; null if there was none. */
export async function lastGrant(sql: AnySql, accountId: number): Promise<number | null> {
  const [row] = await sql<{ granted: number | null }[]>`
    select granted::float8 as granted from credit_balances where account_id = ${accountId}`
  return row?.granted ?? null
}

/** Keeps the usage of the current period, unless the periods change. */
export async function updateRecurring(sql: AnySql, accountId: number, recurring: RecurringCredit): Promise<void> {
  const { amount, every, from, until, active } = recurring
  await sql`
    update credit_balances
       set period = case when recurring_every = ${every} and recurring_from = ${from}::text::date then period end,
           period_used = case when recurring_every = ${every} and recurring_from = ${from}::text::date then period_used else 0 end,
           recurring_amount = ${amount}::bigint, recurring_every = ${every}, recurring_from = ${from}::text::date,
           recurring_until = ${until}::text::date, recurring_active = ${active}
     where account_id = ${accountId}`
}

/**
 * Discards the credit of an account that is being deleted. The account stays limited, because its last accepts may
 * still be in progress.
 */
export async function emptyBalance(sql: AnySql, accountId: number): Promise<void> {
  await sql`update credit_balances set balance = 0, recurring_active = false where account_id = ${accountId}`
}

export async function deleteBalance(sql: AnySql, accountId: number): Promise<void> {
  await sql`delete from credit_balances where account_id = ${accountId}`
}

/** Returns the usage of each day of the page; `first` and `last` are days, `yyyy-mm-dd`. */
export async function selectUsage(
  sql: AnySql,
  accountId: number,
  { first, last, limit, offset }: CreditSpan,
): Promise<CreditUsage['days']> {
  // The type date has a maximum, so an offset beyond the range is cut to the day after its end.
  return sql<{ date: string; used: number }[]>`
    select to_char(each.day, 'YYYY-MM-DD') as date, coalesce(sum(u.used), 0)::float8 as used
      from (select ${first}::text::date as first, ${last}::text::date as last) date_range
     cross join lateral (
       select first + least(${offset}::int, last - first + 1) as first,
              least(last::timestamp, first + least(${offset}::int, last - first + 1) + ${limit - 1}::int) as last) page
     cross join lateral generate_series(page.first::timestamp, page.last::timestamp, interval '1 day') as each(day)
      left join credit_usage u on u.account_id = ${accountId} and u.day = each.day::date
           and u.day between page.first and page.last
     group by each.day order by each.day`
}

export async function sumUsage(sql: AnySql, accountId: number, { first, last }: CreditSpan): Promise<number> {
  const [row] = await sql<{ used: number }[]>`
    select coalesce(sum(used), 0)::float8 as used from credit_usage
     where account_id = ${accountId} and day between ${first}::text::date and ${last}::text::date`
  return row?.used ?? 0
}

/** Locks the account's row, so that decisions about its credit stay valid. Returns whether the account exists. */
export async function lockAccount(sql: AnySql, accountId: number): Promise<boolean> {
  const rows = await sql`select from accounts where id = ${accountId} and deleted_at is null for no key update`
  return rows.count > 0
}

/** The use of an account: `used` in the last 30 days, `recent` in the last 14, and the `days` of those since the first use. */
export interface Use {
  readonly used: number
  readonly recent: number
  readonly days: number
}

/** Returns the database's time, and the use of each of these accounts; those without any are missing. */
export async function selectUses(
  sql: AnySql,
  accountIds: readonly number[],
): Promise<{ now: Date; uses: Map<number, Use> }> {
  const rows = await sql<(Use & { now: Date; accountId: number | null })[]>`
    select t.now, u.account_id as "accountId", coalesce(sum(u.used), 0)::float8 as used,
           coalesce(sum(u.used) filter (where u.day > t.today - 14), 0)::float8 as recent,
           coalesce(t.today - min(u.day) filter (where u.day > t.today - 14) + 1, 14) as days
      from (select service_now() as now, (service_now() at time zone 'UTC')::date as today) t
      left join credit_usage u on u.account_id = any(${[...accountIds]}::int[]) and u.day > t.today - 30
     group by t.now, t.today, u.account_id`
  const uses = rows.flatMap(({ accountId, used, recent, days }) =>
    accountId === null ? [] : [[accountId, { used, recent, days }] as const],
  )
  return { now: rows[0]?.now as Date, uses: new Map(uses) }
}

/** Returns what the account's subaccounts have of their own. */
export async function selectHeld(sql: AnySql, accountId: number): Promise<HeldCredit> {
  return onlyRow(
    await sql<HeldCredit[]>`
      select count(*)::int as subaccounts, coalesce(sum(held.available), 0)::float8 as available
        from (select b.balance + recurring_left(b) as available
                from accounts a join credit_balances b on b.account_id = a.id
               where a.parent_id = ${accountId} and a.deleted_at is null) held
       where held.available > 0`,
  )
}

/** Returns the credits of accounts. Unlimited ones are missing. */
export async function selectCredits(sql: AnySql, accountIds: readonly number[]): Promise<Map<number, Credit>> {
  const rows = await sql<CreditRow[]>`
    select ${columns(sql)} from credit_balances b where account_id = any(${[...accountIds]}::int[])`
  return new Map(rows.map((row) => [row.accountId, asCredit(row)]))
}

/** Subaccounts whose use is added to that of their parent. */
const MAX_PAYERS = 1000

/** Returns the account, and its subaccounts that use its credit. */
export async function selectPayers(sql: AnySql, accountId: number): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select a.id from accounts a
     where a.parent_id = ${accountId} and a.deleted_at is null
       and not exists (select from credit_balances b where b.account_id = a.id)
     order by a.id limit ${MAX_PAYERS}`
  return [accountId, ...rows.map(({ id }) => id)]
}
