import { type AnySql, onlyRow } from '../database.ts'
import type { Account } from './account.ts'

const columns = (sql: AnySql) =>
  sql`id, name, state, parent_id as "parentId", expires_at as "expiresAt", created_at as "createdAt"`

export async function insertAccount(sql: AnySql, name: string): Promise<Account> {
  return onlyRow(await sql<Account[]>`insert into accounts (name) values (${name}) returning ${columns(sql)}`)
}

export async function selectAccounts(sql: AnySql): Promise<Account[]> {
  return sql<Account[]>`select ${columns(sql)} from accounts order by id`
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

/** `at` null: right now, on the database's clock. */
export async function updateAccountExpiry(sql: AnySql, id: number, at: Date | null): Promise<Account | undefined> {
  const rows = await sql<Account[]>`
    update accounts set expires_at = coalesce(${at}::timestamptz, service_now())
     where id = ${id} and deleted_at is null returning ${columns(sql)}`
  return rows[0]
}

/** How often an account may do what, set by the operator. */
export interface AccountLimits {
  /** Messages, by any door. Null: as many as come. */
  readonly sendsPerMinute: number | null
  /** Calls but sendEmail. Null: the installation's default. */
  readonly callsPerMinute: number | null
}

/** Until the transaction ends nobody else changes them. */
export async function selectAccountLimits(sql: AnySql, id: number): Promise<AccountLimits | undefined> {
  const rows = await sql<AccountLimits[]>`
    select sends_per_minute as "sendsPerMinute", calls_per_minute as "callsPerMinute" from accounts where id = ${id} for update`
  return rows[0]
}

export async function updateAccountLimits(sql: AnySql, id: number, limits: AccountLimits): Promise<void> {
  await sql`
    update accounts set sends_per_minute = ${limits.sendsPerMinute}, calls_per_minute = ${limits.callsPerMinute} where id = ${id}`
}
