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
  /** Its state is the parent's, where that is not active. */
  readonly account: Account
  /** The account, or its parent. */
  readonly expired: boolean
  /** A subaccount that its parent has switched off. */
  readonly disabled: boolean
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
           a.id, a.name, case when parent.state <> 'active' then parent.state else a.state end as state,
           a.parent_id as "parentId", a.expires_at as "expiresAt", a.created_at as "createdAt",
           coalesce(least(a.expires_at, parent.expires_at) <= service_now(), false) as expired,
           a.parent_id is not null and a.state = 'suspended' as disabled
      from api_keys k join accounts a on a.id = k.account_id left join accounts parent on parent.id = a.parent_id
     where k.hash = ${hash} and k.revoked_at is null and a.state <> 'deleted' and parent.state is distinct from 'deleted'`
  const row = rows[0]
  if (!row) return null
  const { keyId, scopes, networks, expired, disabled, id, name, state, parentId, expiresAt, createdAt } = row
  return { keyId, scopes, networks, expired, disabled, account: { id, name, state, parentId, expiresAt, createdAt } }
}
