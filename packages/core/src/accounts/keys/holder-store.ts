import type { AnySql } from '../../platform/database/database.ts'
import type { Account, MailDefaults } from '../account.ts'
import { type Restrictions, type Scope, UNRESTRICTED } from './api-key.ts'
import { isValid, restrictionColumns, withRestrictions } from './store.ts'

const mailDefaults = (sql: AnySql) => sql`
  a.open_tracking as "openTracking", a.click_tracking as "clickTracking", a.unsubscribe_link as unsubscribe,
  coalesce(a.mail_class, 'normal') as "mailClass", a.footer_html as "footerHtml", a.footer_text as "footerText",
  a.unsubscribe_html as "unsubscribeHtml", a.unsubscribe_text as "unsubscribeText",
  a.generate_text as "generateText", a.keep_content as "keepsContent"`

function mailDefaultsOf(row: MailDefaults): MailDefaults {
  const { openTracking, clickTracking, unsubscribe, mailClass, generateText, keepsContent } = row
  const { footerHtml, footerText, unsubscribeHtml, unsubscribeText } = row
  return {
    openTracking,
    clickTracking,
    unsubscribe,
    mailClass,
    footerHtml,
    footerText,
    unsubscribeHtml,
    unsubscribeText,
    generateText,
    keepsContent,
  }
}

function accountOf(row: Account): Account {
  const { id, name, state, parentId, expiresAt, createdAt } = row
  const { trialAddress = null, hostsMaySend = false, fallbackSender = null, mailReports = false } = row
  return { id, name, state, parentId, expiresAt, createdAt, trialAddress, hostsMaySend, fallbackSender, mailReports }
}

/** Limits set by the operator; null if none. */
interface AccountLimits {
  readonly sendsPerMinute: number | null
}

export interface Subaccount extends AccountLimits {
  readonly account: Account
  readonly mailDefaults: MailDefaults
  readonly expired: boolean
}

/** Returns the account's subaccount with this lower-case user name, or null. */
export async function selectSubaccount(sql: AnySql, parentId: number, username: string): Promise<Subaccount | null> {
  const rows = await sql<(Account & MailDefaults & Omit<Subaccount, 'account' | 'mailDefaults'>)[]>`
    select a.id, a.name, a.state, a.parent_id as "parentId", a.expires_at as "expiresAt", a.created_at as "createdAt",
           a.hosts_may_send as "hostsMaySend", a.fallback_sender as "fallbackSender", a.mail_reports as "mailReports",
           ${mailDefaults(sql)},
           coalesce(a.expires_at <= service_now(), false) as expired, a.sends_per_minute as "sendsPerMinute"
      from accounts a where a.parent_id = ${parentId} and lower(a.username) = ${username} and a.deleted_at is null`
  const row = rows[0]
  if (!row) return null
  const { expired, sendsPerMinute } = row
  return { account: accountOf(row), mailDefaults: mailDefaultsOf(row), expired, sendsPerMinute }
}

export interface KeyHolder extends AccountLimits {
  readonly keyId: number
  readonly scopes: Scope[]
  readonly networks: string[]
  readonly restrictions: Restrictions
  readonly v3Rights: string[] | null
  readonly countsWith: number | null
  /** The state is the parent's unless the parent is active. */
  readonly account: Account
  readonly mailDefaults: MailDefaults
  /** Whether the account or its parent has expired. */
  readonly expired: boolean
  /** A subaccount disabled by its parent. */
  readonly disabled: boolean
  /** Whether the account or its parent is closed, to be deleted. */
  readonly closed: boolean
  readonly accountCallsPerMinute: number | null
  /** Limit of the parent account. */
  readonly parentSendsPerMinute: number | null
}

/** Returns those of the hexadecimal hashes that belong to valid keys. */
export async function selectLiveHashes(sql: AnySql, hashes: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ hash: string }[]>`
    select encode(hash, 'hex') as hash from api_keys where ${hasHash(sql, hashes)} and ${isValid(sql)}`
  return new Set(rows.map(({ hash }) => hash))
}

/** Returns those of the lower-case user names that belong to subaccounts of the account. */
export async function selectUsernames(
  sql: AnySql,
  parentId: number,
  usernames: readonly string[],
): Promise<Set<string>> {
  const rows = await sql<{ username: string }[]>`
    select lower(username) as username from accounts
     where parent_id = ${parentId} and lower(username) = any(${[...usernames]}::text[]) and deleted_at is null`
  return new Set(rows.map(({ username }) => username))
}

const accountColumns = (sql: AnySql) => sql`
  a.id, a.name, case when p.state <> 'active' then p.state else a.state end as state, a.parent_id as "parentId",
  a.expires_at as "expiresAt", a.created_at as "createdAt", a.hosts_may_send as "hostsMaySend", a.fallback_sender as "fallbackSender",
  a.mail_reports as "mailReports", ${mailDefaults(sql)},
  case when a.trial_address is not null and not exists (
         select from domains d where d.account_id = a.id and d.state = 'active' and d.deleted_at is null)
       then a.trial_address end as "trialAddress",
  coalesce(least(a.expires_at, p.expires_at) <= service_now(), false) as expired,
  a.parent_id is not null and a.state = 'suspended' as disabled,
  coalesce(a.closed_at, p.closed_at) is not null as closed, a.sends_per_minute as "sendsPerMinute",
  a.calls_per_minute as "accountCallsPerMinute", p.sends_per_minute as "parentSendsPerMinute"`

/** Returns an account with these scopes in place of a key, or null. Its `keyId` is 0. */
export async function selectUserHolder(
  sql: AnySql,
  accountId: number,
  scopes: readonly Scope[],
): Promise<KeyHolder | null> {
  const rows = await sql<(Omit<KeyHolder, 'account' | 'mailDefaults'> & Account & MailDefaults)[]>`
    select ${accountColumns(sql)} from accounts a left join accounts p on p.id = a.parent_id
     where a.id = ${accountId} and a.state <> 'deleted' and p.state is distinct from 'deleted'`
  const row = rows[0]
  if (!row) return null
  const none = { keyId: 0, networks: [], restrictions: UNRESTRICTED, v3Rights: null, countsWith: null }
  return { ...row, ...none, scopes: [...scopes], account: accountOf(row), mailDefaults: mailDefaultsOf(row) }
}

/** Returns the valid key with this id, with its account, or null. */
export async function selectKeyHolder(sql: AnySql, id: number): Promise<KeyHolder | null> {
  const isKey: ReturnType<AnySql> = sql`k.id = ${id}`
  const [holder] = await selectHolders(sql, isKey)
  return holder ?? null
}

/** Selects the holders of the valid keys with these hexadecimal hashes, in their order; null where there is none. */
export async function selectKeyHolders(sql: AnySql, hashes: readonly string[]): Promise<(KeyHolder | null)[]> {
  const holders = await selectHolders(sql, hasHash(sql, hashes))
  const byHash = new Map(holders.map((holder) => [holder.hash, holder]))
  return hashes.map((hash) => byHash.get(hash) ?? null)
}

/** The driver does not support arrays of bytea. */
const hasHash = (sql: AnySql, hashes: readonly string[]): ReturnType<AnySql> => sql`
  hash = any(array(select decode(one, 'hex') from unnest(${[...hashes]}::text[]) one))`

async function selectHolders(
  sql: AnySql,
  condition: ReturnType<AnySql>,
): Promise<(KeyHolder & { readonly hash: string })[]> {
  const rows = await sql<
    (Omit<KeyHolder, 'account' | 'mailDefaults' | 'restrictions'> &
      Restrictions &
      Account &
      MailDefaults & { readonly hash: string })[]
  >`
    select encode(k.hash, 'hex') as hash, k.id as "keyId", k.scopes, k.networks::text[] as networks, ${restrictionColumns(sql)}, k.v3_rights as "v3Rights",
           k.counts_with as "countsWith", ${accountColumns(sql)}
      from api_keys k join accounts a on a.id = k.account_id left join accounts p on p.id = a.parent_id
     where ${condition} and k.revoked_at is null and (k.expires_at is null or k.expires_at > service_now())
       and a.state <> 'deleted' and p.state is distinct from 'deleted'`
  return rows.map((row) => {
    const rest = withRestrictions(row)
    return { ...rest, account: accountOf(rest), mailDefaults: mailDefaultsOf(rest) }
  })
}
