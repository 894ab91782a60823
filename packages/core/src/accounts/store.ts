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
