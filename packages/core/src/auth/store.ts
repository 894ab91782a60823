import type { Account } from '../accounts/account.ts'
import { type AnySql, onlyRow } from '../database.ts'
import type { ApiKey, Scope } from './api-key.ts'

const columns = (sql: AnySql) => sql`
  id, account_id as "accountId", name, prefix, scopes, networks::text[] as networks, created_at as "createdAt",
  revoked_at as "revokedAt"`

export interface NewApiKey {
  readonly accountId: number
  readonly name: string
  readonly prefix: string
  readonly hash: Buffer
  readonly scopes: readonly Scope[]
  readonly networks: readonly string[]
}

export async function insertApiKey(sql: AnySql, key: NewApiKey): Promise<ApiKey> {
  return onlyRow(
    await sql<ApiKey[]>`
      insert into api_keys (account_id, name, prefix, hash, scopes, networks)
      values (${key.accountId}, ${key.name}, ${key.prefix}, ${key.hash}, ${[...key.scopes]}::text[],
              ${[...key.networks]}::text[]::inet[]::cidr[])
      returning ${columns(sql)}`,
  )
}

export async function selectApiKeys(sql: AnySql, accountId: number): Promise<ApiKey[]> {
  return sql<ApiKey[]>`select ${columns(sql)} from api_keys where account_id = ${accountId} order by id`
}

/** Answers the key as it stands now, also when it was revoked before. */
export async function revokeApiKey(sql: AnySql, id: number): Promise<ApiKey | undefined> {
  const rows = await sql<ApiKey[]>`
    update api_keys set revoked_at = coalesce(revoked_at, service_now()) where id = ${id} returning ${columns(sql)}`
  return rows[0]
}

export interface KeyHolder {
  readonly keyId: number
  readonly scopes: Scope[]
  readonly networks: string[]
  readonly account: Account
  readonly expired: boolean
}

/** The account's subaccount of this lower-case user name, or null. */
export async function selectSubaccount(
  sql: AnySql,
  parentId: number,
  username: string,
): Promise<{ account: Account; expired: boolean } | null> {
  const rows = await sql<(Account & { expired: boolean })[]>`
    select id, name, state, parent_id as "parentId", expires_at as "expiresAt", created_at as "createdAt",
           coalesce(expires_at <= service_now(), false) as expired
      from accounts where parent_id = ${parentId} and lower(username) = ${username} and deleted_at is null`
  const row = rows[0]
  if (!row) return null
  const { expired, ...account } = row
  return { account, expired }
}

/** The live key with this hash and its account, or null. */
export async function selectKeyHolder(sql: AnySql, hash: Buffer): Promise<KeyHolder | null> {
  const rows = await sql<(Omit<KeyHolder, 'account'> & Account & { accountCreatedAt: Date })[]>`
    select k.id as "keyId", k.scopes, k.networks::text[] as networks,
           a.id, a.name, a.state, a.parent_id as "parentId", a.expires_at as "expiresAt", a.created_at as "createdAt",
           coalesce(a.expires_at <= service_now(), false) as expired
      from api_keys k join accounts a on a.id = k.account_id
     where k.hash = ${hash} and k.revoked_at is null and a.state <> 'deleted'`
  const row = rows[0]
  if (!row) return null
  const { keyId, scopes, networks, expired, id, name, state, parentId, expiresAt, createdAt } = row
  return { keyId, scopes, networks, expired, account: { id, name, state, parentId, expiresAt, createdAt } }
}
