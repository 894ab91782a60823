import { type AnySql, onlyRow } from '../../platform/database/database.ts'
import type { ApiKey, KeyPage, Restrictions, Scope } from './api-key.ts'

type KeyRow = Omit<ApiKey, 'restrictions'> & Restrictions

export const restrictionColumns = (sql: AnySql) => sql`
  k.templates, k.sender_domains as "senderDomains", k.recipient_domains as "recipientDomains",
  k.recipients_per_hour as "recipientsPerHour", k.calls_per_minute as "callsPerMinute", k.mail_class as "class",
  k.keep_content as "keepContent", k.expires_at as "until"`

const columns = (sql: AnySql) => sql`
  k.id, k.account_id as "accountId", k.name, k.prefix, k.scopes, k.networks::text[] as networks, ${restrictionColumns(sql)},
  k.v3_rights as "v3Rights", k.created_at as "createdAt", k.revoked_at as "revokedAt", k.last_used_at as "lastUsedAt", k.replaced_by as "replacedBy",
  k.counts_with as "countsWith", coalesce(k.expires_at <= service_now(), false) as expired`

function keyOf(row: KeyRow): ApiKey {
  return withRestrictions(row)
}

/** Puts the columns of the restrictions together. */
export function withRestrictions<Row extends Restrictions>(row: Row) {
  const {
    templates,
    senderDomains,
    recipientDomains,
    recipientsPerHour,
    callsPerMinute,
    class: of,
    keepContent,
    until,
    ...rest
  } = row
  return {
    ...rest,
    restrictions: {
      templates,
      senderDomains,
      recipientDomains,
      recipientsPerHour,
      callsPerMinute,
      class: of,
      keepContent,
      until,
    },
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
  const own = key.restrictions
  return keyOf(
    onlyRow(
      await sql<KeyRow[]>`
        insert into api_keys as k (account_id, name, prefix, hash, scopes, networks, templates, sender_domains, recipient_domains,
               recipients_per_hour, calls_per_minute, mail_class, keep_content, expires_at, counts_with, v3_rights)
        values (${key.accountId}, ${key.name}, ${key.prefix}, ${key.hash}, ${[...key.scopes]}::text[],
                ${[...key.networks]}::text[]::inet[]::cidr[], ${list(own.templates)}::int[], ${list(own.senderDomains)}::text[],
                ${list(own.recipientDomains)}::text[], ${own.recipientsPerHour}, ${own.callsPerMinute}, ${own.class}, ${own.keepContent},
                ${own.until}::timestamptz, ${key.countsWith}, ${list(key.v3Rights)}::text[])
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
export const isValid = (sql: AnySql) => sql`revoked_at is null and (expires_at is null or expires_at > service_now())`

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
  const own = key.restrictions
  return keyOf(
    onlyRow(
      await sql<KeyRow[]>`
        update api_keys k
           set name = ${key.name}, scopes = ${[...key.scopes]}::text[], networks = ${[...key.networks]}::text[]::inet[]::cidr[],
               templates = ${list(own.templates)}::int[], sender_domains = ${list(own.senderDomains)}::text[],
               recipient_domains = ${list(own.recipientDomains)}::text[], recipients_per_hour = ${own.recipientsPerHour},
               calls_per_minute = ${own.callsPerMinute}, mail_class = ${own.class}, keep_content = ${own.keepContent}, expires_at = ${own.until}::timestamptz,
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

/** Takes back a revocation of the last minute; undefined if there was none. */
export async function restoreApiKey(sql: AnySql, id: number): Promise<ApiKey | undefined> {
  const [row] = await sql<KeyRow[]>`
    update api_keys k set revoked_at = null where id = ${id} and revoked_at > service_now() - interval '1 minute' returning ${columns(sql)}`
  return row && keyOf(row)
}

/** Other processes write the same keys, so locked rows and recent values are skipped. */
export async function recordKeyUse(sql: AnySql, ids: readonly number[]): Promise<void> {
  await sql`
    update api_keys set last_used_at = service_now()
     where id in (select id from api_keys where id = any(${[...ids]}::int[])
                  and (last_used_at is null or last_used_at < service_now() - interval '30 seconds')
                  order by id for no key update skip locked)`
}
