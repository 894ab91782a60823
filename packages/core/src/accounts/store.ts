import { type AnySql, onlyRow } from '../platform/database/database.ts'
import type { Account } from './account.ts'
import type { AccountSettings } from './account-settings.ts'

const columns = (sql: AnySql) =>
  sql`id, name, state, parent_id as "parentId", expires_at as "expiresAt", closed_at as "closedAt", created_at as "createdAt"`

export async function insertAccount(sql: AnySql, name: string): Promise<Account> {
  return onlyRow(await sql<Account[]>`insert into accounts (name) values (${name}) returning ${columns(sql)}`)
}

/** The address of the account itself, or of its first owner. */
export async function selectEmail(sql: AnySql, id: number): Promise<string> {
  const [row] = await sql<{ email: string | null }[]>`
    select coalesce(a.email, (select u.email from memberships m join users u on u.id = m.user_id
                               where m.account_id = a.id and m.role = 'owner' order by m.created_at, u.id limit 1)) as email
      from accounts a where a.id = ${id}`
  return row?.email ?? ''
}

export async function selectAccounts(sql: AnySql): Promise<Account[]> {
  return sql<Account[]>`select ${columns(sql)} from accounts order by id`
}

export async function selectAccount(sql: AnySql, id: number): Promise<Account | undefined> {
  const [account] = await sql<Account[]>`select ${columns(sql)} from accounts where id = ${id}::int`
  return account
}

/** Selects an account that is not deleted, and locks it until the end of the transaction. */
export async function lockAccount(sql: AnySql, id: number): Promise<Account | undefined> {
  const [account] = await sql<Account[]>`
    select ${columns(sql)} from accounts where id = ${id}::int and deleted_at is null for no key update`
  return account
}

/** Renames an account, and its subaccounts, whose names begin with its own. */
export async function updateName(sql: AnySql, id: number, name: string): Promise<Account | undefined> {
  const [account] = await sql<Account[]>`update accounts set name = ${name} where id = ${id} returning ${columns(sql)}`
  await sql`update accounts set name = ${name}::text || '/' || username where parent_id = ${id} and deleted_at is null`
  return account
}

export async function selectNames(sql: AnySql, ids: readonly number[]): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<
    { id: number; name: string }[]
  >`select id, name from accounts where id = any(${[...ids]}::int[])`
  return new Map(rows.map(({ id, name }) => [id, name]))
}

export async function updateAccountState(
  sql: AnySql,
  id: number,
  state: Account['state'],
): Promise<Account | undefined> {
  const rows = await sql<Account[]>`
    update accounts set state = ${state} where id = ${id} and deleted_at is null returning ${columns(sql)}`
  return rows[0]
}

/** `at` null: now, by the database's clock. */
export async function updateAccountExpiry(sql: AnySql, id: number, at: Date | null): Promise<Account | undefined> {
  const rows = await sql<Account[]>`
    update accounts set expires_at = coalesce(${at}::timestamptz, service_now())
     where id = ${id} and deleted_at is null returning ${columns(sql)}`
  return rows[0]
}

/** Rate limits of an account, set by the operator. */
export interface AccountLimits {
  /** Messages through any entry point; null: unlimited. */
  readonly sendsPerMinute: number | null
  /** API calls except sendEmail; null: the installation's default. */
  readonly callsPerMinute: number | null
}

/** Selects the limits and locks them until the end of the transaction. */
export async function selectAccountLimits(sql: AnySql, id: number): Promise<AccountLimits | undefined> {
  const rows = await sql<AccountLimits[]>`
    select sends_per_minute as "sendsPerMinute", calls_per_minute as "callsPerMinute" from accounts where id = ${id} for update`
  return rows[0]
}

export async function updateAccountLimits(sql: AnySql, id: number, limits: AccountLimits): Promise<void> {
  await sql`
    update accounts set sends_per_minute = ${limits.sendsPerMinute}, calls_per_minute = ${limits.callsPerMinute} where id = ${id}`
}

/** Returns the account itself, or the parent of a subaccount: a parent can create any number of them (holderOf in keys/api-key.ts). */
export async function selectHolder(sql: AnySql, id: number): Promise<number> {
  const [row] = await sql<{ holder: number }[]>`select coalesce(parent_id, id) as holder from accounts where id = ${id}`
  return row?.holder ?? id
}

const settingsColumns = (sql: AnySql) => sql`
  open_tracking as "openTracking", click_tracking as "clickTracking", unsubscribe_link as "unsubscribeLink",
  coalesce(mail_class, 'normal') as "mailClass", footer_html as "footerHtml", footer_text as "footerText",
  unsubscribe_html as "unsubscribeHtml", unsubscribe_text as "unsubscribeText",
  generate_text as "generateText", hosts_may_send as "hostsMaySend",
  fallback_sender as "fallbackSender", mail_reports as "mailReports",
  privacy_mode as "privacyMode",
  account_notices as "accountNotices", array_to_string(muted_notices, ',') as "mutedNotices", requirements, time_zone as "timeZone",
  keep_content as "keepContent", event_days as "eventDays", body_days as "bodyDays"`

/** With `lock`, the settings are locked until the end of the transaction. */
export async function selectSettings(
  sql: AnySql,
  id: number,
  { lock = false } = {},
): Promise<AccountSettings | undefined> {
  const [row] = await sql<AccountSettings[]>`
    select ${settingsColumns(sql)} from accounts where id = ${id} and deleted_at is null ${lock ? sql`for no key update` : sql``}`
  return row && { ...row }
}

/** Whether the account may send from this domain: its own, or a shared one of its parent. */
export async function ownsActive(sql: AnySql, id: number, domain: string): Promise<boolean> {
  const rows = await sql`
    select from domains d join accounts a on a.id = ${id}
     where d.name = ${domain} and d.state = 'active' and d.deleted_at is null
       and (d.account_id = a.id or d.shared and d.account_id = a.parent_id)`
  return rows.length > 0
}

export async function updateSettings(sql: AnySql, id: number, settings: AccountSettings): Promise<void> {
  await sql`
    update accounts
       set open_tracking = ${settings.openTracking}, click_tracking = ${settings.clickTracking},
           unsubscribe_link = ${settings.unsubscribeLink}, mail_class = nullif(${settings.mailClass}::text, 'normal'), footer_html = ${settings.footerHtml},
           footer_text = ${settings.footerText}, unsubscribe_html = ${settings.unsubscribeHtml}, unsubscribe_text = ${settings.unsubscribeText},
           generate_text = ${settings.generateText}, hosts_may_send = ${settings.hostsMaySend},
           fallback_sender = ${settings.fallbackSender}, mail_reports = ${settings.mailReports}, privacy_mode = ${settings.privacyMode},
           account_notices = ${settings.accountNotices}, muted_notices = string_to_array(${settings.mutedNotices}::text, ','),
           requirements = ${settings.requirements}, time_zone = ${settings.timeZone},
           keep_content = ${settings.keepContent}, event_days = ${settings.eventDays}, body_days = ${settings.bodyDays}
     where id = ${id}`
}

/**
 * Returns every time zone name that the database knows, by its lower-case form. Slow: it reads a directory of files.
 */
export async function selectTimeZones(sql: AnySql): Promise<Map<string, string>> {
  const rows = await sql<{ name: string }[]>`select name from pg_timezone_names where name !~ '^(posix|right)/'`
  return new Map(rows.map(({ name }) => [name.toLowerCase(), name]))
}
