import { type AnySql, onlyRow } from '../database.ts'
import type { Domain, DomainState } from './domain.ts'

const columns = (sql: AnySql) => sql`
  id, account_id as "accountId", name, state, return_path_host as "returnPathHost", created_at as "createdAt"`

export async function insertDomain(sql: AnySql, accountId: number, name: string, state: DomainState): Promise<Domain> {
  return onlyRow(
    await sql<Domain[]>`
      insert into domains (account_id, name, state) values (${accountId}, ${name}, ${state}) returning ${columns(sql)}`,
  )
}

export async function selectDomains(sql: AnySql, accountId: number | undefined): Promise<Domain[]> {
  return sql<Domain[]>`
    select ${columns(sql)} from domains where ${accountId ?? null}::int is null or account_id = ${accountId ?? null} order by name`
}

export async function selectDomain(sql: AnySql, name: string): Promise<Domain | undefined> {
  const rows = await sql<Domain[]>`select ${columns(sql)} from domains where name = ${name}`
  return rows[0]
}

export async function updateDomainState(sql: AnySql, name: string, state: DomainState): Promise<Domain | undefined> {
  const rows = await sql<Domain[]>`update domains set state = ${state} where name = ${name} returning ${columns(sql)}`
  return rows[0]
}

export interface NewDkimKey {
  readonly domainId: number
  readonly selector: string
  readonly publicKey: Buffer
  readonly privateKey: Buffer
}

export async function insertDkimKey(sql: AnySql, key: NewDkimKey): Promise<void> {
  await sql`
    insert into dkim_keys (domain_id, selector, public_key, private_key)
    values (${key.domainId}, ${key.selector}, ${key.publicKey}, ${key.privateKey})`
}

export interface StoredDkimKey {
  readonly domain: string
  readonly selector: string
  readonly publicKey: Buffer
  readonly privateKey: Buffer
}

/** The key that signs for a domain now: the newest active one. */
export async function selectDkimKey(sql: AnySql, domainId: number): Promise<StoredDkimKey | undefined> {
  const rows = await sql<StoredDkimKey[]>`
    select d.name as domain, k.selector, k.public_key as "publicKey", k.private_key as "privateKey"
      from dkim_keys k join domains d on d.id = k.domain_id
     where k.domain_id = ${domainId} and k.state = 'active'
     order by k.id desc limit 1`
  return rows[0]
}
