import type { SqlTransaction } from '../../platform/database/database.ts'
import { OWN_ROWS, type OwnRows, STEPPED } from './own-rows.ts'
import { removeBlocks, removeEventPage, removeMessages, removeOtherEvents, removeOtherReturns } from './remove-mail.ts'
import { hasOwnRows, type Part, type Position, removeOwnRows } from './remove-rows.ts'

/** A step of a removal. It is done in parts, each of them a transaction. */
export interface Step {
  /** Unique; stored with the removal. */
  readonly name: string
  act(sql: SqlTransaction, given: { readonly accountId: number; readonly position: Position }): Promise<Part>
}

/** Subaccounts that are marked at a time, members and entries of the log that are removed at a time. */
const SOME = { subaccounts: 100, members: 100, entries: 1000 } as const
/** Seconds until a worker looks again whether what it waits for has happened. */
const WAIT = { subaccounts: 2, deliveries: 10 } as const

/** Steps of which nothing says that they are complete: their tables have no index by account. The others are looked at once more at the end. */
const UNCHECKED: readonly string[] = ['returns', 'hits', 'attempts', 'finished_deliveries']

export const STEPS: readonly Step[] = [
  { name: 'subaccounts', act: removeSubaccounts },
  { name: 'deliveries', act: waitForDeliveries },
  { name: 'messages', act: removeMessages },
  // After the messages, of which none are made from then on.
  { name: 'search_blocks', act: removeBlocks },
  { name: 'event_pages', act: removeEventPage },
  { name: 'events', act: removeOtherEvents },
  { name: 'returns', act: removeOtherReturns },
  ...OWN_ROWS.map((rows): Step => ({ name: rows.table, act: (sql, given) => removeOwnRows(sql, rows, given) })),
  { name: 'members', act: removeMembers },
  { name: 'audit_log', act: removeLog },
  { name: 'account', act: emptyAccount },
]

/** Returns the tables of {@link STEPS} in which rows of the account are left: what began before the account was closed may have ended since. */
export async function tablesLeft(sql: SqlTransaction, accountId: number): Promise<string[]> {
  const own = OWN_ROWS.filter((rows: OwnRows) => !rows.through).map(({ table }) => table)
  const left: string[] = []
  for (const table of [...own, ...STEPPED.filter((one) => !UNCHECKED.includes(one))])
    if (await hasOwnRows(sql, table, accountId)) left.push(table)
  return left
}

/** Begins the removal of the subaccounts, and waits for its end. */
async function removeSubaccounts(sql: SqlTransaction, { accountId }: { readonly accountId: number }): Promise<Part> {
  const { count } = await sql`
    with own as (
      select a.id from accounts a
       where a.parent_id = ${accountId} and not exists (select from account_deletions d where d.account_id = a.id and d.state in ('removing', 'done'))
       order by a.id limit ${SOME.subaccounts} for no key update
    ), marked as (
      update accounts a set state = 'deleted', deleted_at = coalesce(a.deleted_at, service_now()), closed_at = coalesce(a.closed_at, service_now())
        from own where a.id = own.id
    )
    insert into account_deletions (account_id, state, grace_days, counts, confirmed_at, remove_at, due_at)
    select id, 'removing', 0, '{}', service_now(), service_now(), service_now() from own`
  if (count > 0) return { removed: count, next: [] }
  const rows = await sql`
    select from account_deletions d join accounts a on a.id = d.account_id
     where a.parent_id = ${accountId} and d.state = 'removing' limit 1`
  return rows.count > 0 ? { removed: 0, wait: WAIT.subaccounts } : { removed: 0 }
}

/** A worker records the outcome of a delivery that it has claimed. */
async function waitForDeliveries(sql: SqlTransaction, { accountId }: { readonly accountId: number }): Promise<Part> {
  const rows = await sql`
    select from (select account_id from delivery_queue where worker_id is not null offset 0) claimed
     where account_id = ${accountId} limit 1`
  return rows.count > 0 ? { removed: 0, wait: WAIT.deliveries } : { removed: 0 }
}

/** Removes members, and those users who then have no account, unless they operate the installation. */
async function removeMembers(sql: SqlTransaction, { accountId }: { readonly accountId: number }): Promise<Part> {
  const users = await sql<{ id: number }[]>`
    select u.id from users u
     where u.id in (select user_id from memberships where account_id = ${accountId} order by user_id limit ${SOME.members})
     order by u.id for update`
  const ids = users.map(({ id }) => id)
  await sql`delete from memberships where account_id = ${accountId} and user_id = any(${ids}::int[])`
  await sql`update sessions set looks_at = null where looks_at = ${accountId}`
  await sql`
    delete from users u
     where (u.id = any(${ids}::int[]) or u.holder_of = ${accountId})
       and not exists (select from memberships m where m.user_id = u.id) and not exists (select from operators o where o.user_id = u.id)`
  return ids.length > 0 ? { removed: ids.length, next: [] } : { removed: 0 }
}

/** The latest entries first, so that what is left is a whole chain. */
async function removeLog(sql: SqlTransaction, { accountId }: { readonly accountId: number }): Promise<Part> {
  const { count } = await sql`
    delete from audit_log
     where account_id = ${accountId}
       and number > (select max(number) from audit_log where account_id = ${accountId}) - ${SOME.entries}::bigint`
  return count > 0 ? { removed: count, next: [] } : { removed: 0 }
}

/** The row stays, so that its number is known as that of a deleted account; what says whose it was does not. */
async function emptyAccount(sql: SqlTransaction, { accountId }: { readonly accountId: number }): Promise<Part> {
  await sql`
    update accounts
       set name = 'deleted account ' || id, username = case when username is not null then 'deleted' end, email = null, password = null,
           footer_html = null, footer_text = null, unsubscribe_html = null, unsubscribe_text = null,
           trial_address = null, fallback_sender = null, event_days = null, body_days = null,
           requirements = null, expires_at = null, feed_read_at = null, sends_per_minute = null, calls_per_minute = null, time_zone = 'UTC'
     where id = ${accountId}`
  return { removed: 1 }
}
