import { type AnySql, onlyRow } from '../../platform/database/database.ts'
import type { Subaccount } from './subaccount.ts'

/** A subaccount with its internal id. */
export interface StoredSubaccount extends Subaccount {
  readonly id: number
}

const columns = (sql: AnySql) => sql`
  a.id, a.username, coalesce(a.email, '') as email, a.state = 'suspended' as disabled, a.created_at as "createdAt",
  case when exists (select from credit_balances b where b.account_id = a.id) then 'one_time_credit' else 'unlimited' end
    as "creditType"`

export interface NewSubaccountRow {
  readonly parentId: number
  readonly username: string
  readonly email: string
  readonly password: string | null
}

/** Inserts a subaccount that copies its parent's settings. Returns its id. */
export async function insertSubaccount(sql: AnySql, row: NewSubaccountRow): Promise<number> {
  const { parentId, username, email, password } = row
  return onlyRow(
    await sql<{ id: number }[]>`
      insert into accounts (parent_id, name, username, email, password, open_tracking, click_tracking, unsubscribe_link, mail_class,
                            footer_html, footer_text, unsubscribe_html, unsubscribe_text, generate_text, hosts_may_send, mail_reports,
                            privacy_mode, account_notices, muted_notices, requirements, time_zone, keep_content, event_days,
                            body_days)
      select id, name || '/' || ${username}::text, ${username}, ${email}, ${password}, open_tracking, click_tracking, unsubscribe_link, mail_class,
             footer_html, footer_text, unsubscribe_html, unsubscribe_text, generate_text, hosts_may_send, mail_reports,
             privacy_mode, account_notices, muted_notices, requirements, time_zone, keep_content, event_days, body_days
        from accounts where id = ${parentId}
         -- Its name begins with that of the parent, which must not be changed meanwhile.
         for share
      returning id`,
  ).id
}

export async function selectSubaccount(
  sql: AnySql,
  parentId: number,
  username: string,
): Promise<StoredSubaccount | undefined> {
  const [row] = await sql<StoredSubaccount[]>`
    select ${columns(sql)} from accounts a
     where a.parent_id = ${parentId} and lower(a.username) = lower(${username}::text) and a.deleted_at is null`
  return row
}

/** Like selectSubaccount, but locks the row until the end of the transaction. */
export async function lockSubaccount(
  sql: AnySql,
  parentId: number,
  username: string,
): Promise<StoredSubaccount | undefined> {
  const rows = await sql<{ id: number }[]>`
    select id from accounts a
     where a.parent_id = ${parentId} and lower(a.username) = lower(${username}::text) and a.deleted_at is null
       for no key update`
  if (rows.length === 0) return undefined
  // Selected again, because changes that were committed while this transaction waited for the lock are visible only to
  // a new statement.
  return selectSubaccount(sql, parentId, username)
}

export interface SubaccountPage {
  readonly limit: number
  readonly offset: number
  /** Only the subaccount with this name. */
  readonly username?: string | undefined
}

/** Sorted by name. */
export async function selectSubaccounts(
  sql: AnySql,
  parentId: number,
  page: SubaccountPage,
): Promise<StoredSubaccount[]> {
  return sql<StoredSubaccount[]>`
    select ${columns(sql)} from accounts a
     where a.parent_id = ${parentId} and a.deleted_at is null
       and (${page.username ?? null}::text is null or lower(a.username) = lower(${page.username ?? null}::text))
     order by lower(a.username) limit ${page.limit} offset ${page.offset}`
}

export async function countSubaccounts(sql: AnySql, parentId: number, username: string | undefined): Promise<number> {
  return onlyRow(
    await sql<{ count: number }[]>`
      select count(*)::int as count from accounts
       where parent_id = ${parentId} and deleted_at is null
         and (${username ?? null}::text is null or lower(username) = lower(${username ?? null}::text))`,
  ).count
}

/** Undefined fields are unchanged. */
export async function updateSubaccount(
  sql: AnySql,
  id: number,
  { email, password }: { email: string | undefined; password: string | undefined },
): Promise<void> {
  await sql`
    update accounts set email = coalesce(${email ?? null}::text, email), password = coalesce(${password ?? null}::text, password)
     where id = ${id}`
  if (password === undefined) return
  // The holder must log in again, with the new password.
  await sql`delete from sessions where user_id in (select u.id from users u where u.holder_of = ${id})`
}

export async function updateDisabled(sql: AnySql, id: number, disabled: boolean): Promise<void> {
  await sql`update accounts set state = ${disabled ? 'suspended' : 'active'} where id = ${id}`
}

/** Marks the subaccount deleted, which frees its name, and revokes its keys. */
export async function markDeleted(sql: AnySql, id: number): Promise<void> {
  await sql`update accounts set state = 'deleted', deleted_at = service_now() where id = ${id}`
  await sql`update api_keys set revoked_at = service_now() where account_id = ${id} and revoked_at is null`
}
