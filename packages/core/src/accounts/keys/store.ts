import { type AnySql, onlyRow } from '../../platform/database/database.ts'
import type { Account, MailDefaults } from '../account.ts'
import { type ApiKey, type KeyPage, type Restrictions, type Scope, UNRESTRICTED } from './api-key.ts'

type KeyRow = Omit<ApiKey, 'restrictions'> & Restrictions

const restrictions = (sql: AnySql) => sql`
  k.templates, k.sender_domains as "senderDomains", k.recipient_domains as "recipientDomains",
  k.recipients_per_hour as "recipientsPerHour", k.calls_per_minute as "callsPerMinute", k.mail_class as "class",
  k.expires_at as "until"`

const columns = (sql: AnySql) => sql`
  k.id, k.account_id as "accountId", k.name, k.prefix, k.scopes, k.networks::text[] as networks, ${restrictions(sql)},
  k.v3_rights as "v3Rights", k.created_at as "createdAt", k.revoked_at as "revokedAt", k.last_used_at as "lastUsedAt", k.replaced_by as "replacedBy",
  k.counts_with as "countsWith", coalesce(k.expires_at <= service_now(), false) as expired`

function keyOf(row: KeyRow): ApiKey {
  return withRestrictions(row)
}

/** Puts the columns of the restrictions together. */
function withRestrictions<Row extends Restrictions>(row: Row) {
  const {
    templates,
    senderDomains,
    recipientDomains,
    recipientsPerHour,
    callsPerMinute,
    class: of,
    until,
    ...rest
  } = row
  return {
    ...rest,
    restrictions: { templates, senderDomains, recipientDomains, recipientsPerHour, callsPerMinute, class: of, until },
  }
}

export interface NewApiKey {
  readonly accountId: number
  readonly name: string
  readonly prefix: string
  readonly hash: Buffer
  readonly scopes: readonly Scope[]
  readonly networks: readonly string[]
  readonly restrictions: Restrictions
  readonly v3Rights: readonly string[] | null
  readonly countsWith: number | null
}

export async function insertApiKey(sql: AnySql, key: NewApiKey): Promise<ApiKey> {
  const {
    templates,
    senderDomains,
    recipientDomains,
    recipientsPerHour,
    callsPerMinute,
    class: of,
    until,
  } = key.restrictions
  return keyOf(
    onlyRow(
      await sql<KeyRow[]>`
        insert into api_keys as k (account_id, name, prefix, hash, scopes, networks, templates, sender_domains, recipient_domains,
               recipients_per_hour, calls_per_minute, mail_class, expires_at, counts_with, v3_rights)
        values (${key.accountId}, ${key.name}, ${key.prefix}, ${key.hash}, ${[...key.scopes]}::text[],
                ${[...key.networks]}::text[]::inet[]::cidr[], ${list(templates)}::int[], ${list(senderDomains)}::text[],
                ${list(recipientDomains)}::text[], ${recipientsPerHour}, ${callsPerMinute}, ${of}, ${until}::timestamptz,
                ${key.countsWith}, ${list(key.v3Rights)}::text[])
        returning ${columns(sql)}`,
    ),
  )
}

function list<T>(entries: readonly T[] | null): T[] | null {
  return entries && [...entries]
}

export async function selectApiKeys(
  sql: AnySql,
  accountId: number,
  { after, limit, newestFirst, onlyValid }: KeyPage,
): Promise<ApiKey[]> {
  const order = newestFirst ? sql`revoked_at is not null, id desc` : sql`id`
  const rows = await sql<KeyRow[]>`
    select ${columns(sql)} from api_keys k
     where account_id = ${accountId} and id > ${after} ${onlyValid ? sql`and ${isValid(sql)}` : sql``} order by ${order} limit ${limit}`
  return rows.map(keyOf)
}

/** Neither revoked nor expired. */
const isValid = (sql: AnySql) => sql`revoked_at is null and (expires_at is null or expires_at > service_now())`

/** Counts an account's keys, and those of them that are valid. */
export async function countApiKeys(sql: AnySql, accountId: number): Promise<{ all: number; live: number }> {
  return onlyRow(
    await sql<{ all: number; live: number }[]>`
      select count(*)::int as all,
             (count(*) filter (where ${isValid(sql)}))::int as live
        from api_keys where account_id = ${accountId}`,
  )
}

/** Selects a key, optionally only if it belongs to the account. `lock`: locks it until the end of the transaction. */
export async function selectApiKey(
  sql: AnySql,
  { id, accountId = null, lock = false }: { id: number; accountId?: number | null | undefined; lock?: boolean },
): Promise<ApiKey | undefined> {
  const rows = await sql<KeyRow[]>`
    select ${columns(sql)} from api_keys k where id = ${id} and (${accountId}::int is null or account_id = ${accountId}::int)
    ${lock ? sql`for update` : sql``}`
  return rows[0] && keyOf(rows[0])
}

export async function updateApiKey(
  sql: AnySql,
  id: number,
  key: Pick<NewApiKey, 'name' | 'scopes' | 'networks' | 'restrictions' | 'v3Rights'>,
): Promise<ApiKey> {
  const {
    templates,
    senderDomains,
    recipientDomains,
    recipientsPerHour,
    callsPerMinute,
    class: of,
    until,
  } = key.restrictions
  return keyOf(
    onlyRow(
      await sql<KeyRow[]>`
        update api_keys k
           set name = ${key.name}, scopes = ${[...key.scopes]}::text[], networks = ${[...key.networks]}::text[]::inet[]::cidr[],
               templates = ${list(templates)}::int[], sender_domains = ${list(senderDomains)}::text[],
               recipient_domains = ${list(recipientDomains)}::text[], recipients_per_hour = ${recipientsPerHour},
               calls_per_minute = ${callsPerMinute}, mail_class = ${of}, expires_at = ${until}::timestamptz,
               v3_rights = ${list(key.v3Rights)}::text[]
         where id = ${id} returning ${columns(sql)}`,
    ),
  )
}

/** Ends the key in `hours`, unless it expires earlier; 0 revokes it. */
export async function replaceApiKey(sql: AnySql, id: number, by: number, hours: number): Promise<ApiKey> {
  return keyOf(
    onlyRow(
      await sql<KeyRow[]>`
        update api_keys k
           set replaced_by = ${by},
               revoked_at = case when ${hours}::int = 0 then coalesce(revoked_at, service_now()) else revoked_at end,
               expires_at = least(expires_at, service_now() + make_interval(hours => ${hours}::int))
         where id = ${id} returning ${columns(sql)}`,
    ),
  )
}

/** Returns the key, also if it was already revoked. */
export async function revokeApiKey(sql: AnySql, id: number): Promise<ApiKey> {
  return keyOf(
    onlyRow(
      await sql<KeyRow[]>`
        update api_keys k set revoked_at = coalesce(revoked_at, service_now()) where id = ${id} returning ${columns(sql)}`,
    ),
  )
}

/** Other processes write the same keys, so locked rows and recent values are skipped. */
export async function recordKeyUse(sql: AnySql, ids: readonly number[]): Promise<void> {
  await sql`
    update api_keys set last_used_at = service_now()
     where id in (select id from api_keys where id = any(${[...ids]}::int[])
                  and (last_used_at is null or last_used_at < service_now() - interval '30 seconds')
                  order by id for no key update skip locked)`
}

const mailDefaults = (sql: AnySql) => sql`
  a.open_tracking as "openTracking", a.click_tracking as "clickTracking", a.unsubscribe_link as unsubscribe,
  coalesce(a.mail_class, 'normal') as "mailClass", a.footer_html as "footerHtml", a.footer_text as "footerText"`

function mailDefaultsOf(row: MailDefaults): MailDefaults {
  const { openTracking, clickTracking, unsubscribe, mailClass, footerHtml, footerText } = row
  return { openTracking, clickTracking, unsubscribe, mailClass, footerHtml, footerText }
}

function accountOf({ id, name, state, parentId, expiresAt, createdAt, trialAddress = null }: Account): Account {
  return { id, name, state, parentId, expiresAt, createdAt, trialAddress }
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
  readonly accountCallsPerMinute: number | null
  /** Limit of the parent account. */
  readonly parentSendsPerMinute: number | null
}

/** Returns those of the hexadecimal hashes that belong to valid keys. */
export async function selectLiveHashes(sql: AnySql, hashes: readonly string[]): Promise<Set<string>> {
  // The driver does not support arrays of bytea.
  const rows = await sql<{ hash: string }[]>`
    select encode(hash, 'hex') as hash from api_keys
     where hash = any(array(select decode(one, 'hex') from unnest(${[...hashes]}::text[]) one))
       and ${isValid(sql)}`
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
  a.expires_at as "expiresAt", a.created_at as "createdAt", ${mailDefaults(sql)},
  case when a.trial_address is not null and not exists (
         select from domains d where d.account_id = a.id and d.state = 'active' and d.deleted_at is null)
       then a.trial_address end as "trialAddress",
  coalesce(least(a.expires_at, p.expires_at) <= service_now(), false) as expired,
  a.parent_id is not null and a.state = 'suspended' as disabled, a.sends_per_minute as "sendsPerMinute",
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

/** Returns the valid key with this hash or id, with its account, or null. */
export async function selectKeyHolder(sql: AnySql, key: { hash: Buffer } | { id: number }): Promise<KeyHolder | null> {
  const rows = await sql<
    (Omit<KeyHolder, 'account' | 'mailDefaults' | 'restrictions'> & Restrictions & Account & MailDefaults)[]
  >`
    select k.id as "keyId", k.scopes, k.networks::text[] as networks, ${restrictions(sql)}, k.v3_rights as "v3Rights",
           k.counts_with as "countsWith", ${accountColumns(sql)}
      from api_keys k join accounts a on a.id = k.account_id left join accounts p on p.id = a.parent_id
     where ${'hash' in key ? sql`k.hash = ${key.hash}` : sql`k.id = ${key.id}`} and k.revoked_at is null and (k.expires_at is null or k.expires_at > service_now())
       and a.state <> 'deleted' and p.state is distinct from 'deleted'`
  const row = rows[0]
  if (!row) return null
  const rest = withRestrictions(row)
  return {
    ...rest,
    account: accountOf(rest),
    mailDefaults: mailDefaultsOf(rest),
  }
}
