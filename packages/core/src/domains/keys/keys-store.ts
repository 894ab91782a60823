import type { AnySql } from '../../platform/database/database.ts'
import type { DkimKeyState } from '../domain.ts'

/**
 * How long the record of a former signing key must stay published: signatures are valid for seven days, and a worker
 * may sign with its cached key for a minute after a rotation.
 */
const RETIRES_AFTER = '8 days'

export interface NewDkimKey {
  readonly domainId: number
  readonly selector: string
  readonly publicKey: Buffer
  readonly privateKey: Buffer
  readonly state: 'next' | 'active'
}

export interface StoredPublicKey {
  readonly domainId: number
  readonly selector: string
  readonly publicKey: Buffer
  readonly state: DkimKeyState
}

export interface StoredDkimKey {
  readonly domain: string
  readonly selector: string
  readonly privateKey: Buffer
  readonly returnPathHost: string | null
}

export async function insertDkimKey(sql: AnySql, key: NewDkimKey): Promise<void> {
  await sql`
    insert into dkim_keys (domain_id, selector, public_key, private_key, state)
    values (${key.domainId}, ${key.selector}, ${key.publicKey}, ${key.privateKey}, ${key.state})`
}

/** Selects the signing key of a domain, deleted or not, because mail accepted before is still signed. */
export async function selectDkimKey(sql: AnySql, domainId: number): Promise<StoredDkimKey | undefined> {
  const rows = await sql<StoredDkimKey[]>`
    select d.name as domain, k.selector, k.private_key as "privateKey", d.return_path_host as "returnPathHost"
      from dkim_keys k join domains d on d.id = k.domain_id
     where k.domain_id = ${domainId} and k.state = 'active'`
  return rows[0]
}

/** Selects the keys whose records should be published: the signing key first, then the next one, then retiring ones. */
export async function selectPublicKeys(sql: AnySql, domainIds: readonly number[]): Promise<StoredPublicKey[]> {
  return sql<StoredPublicKey[]>`
    select domain_id as "domainId", selector, public_key as "publicKey", state
      from dkim_keys where domain_id = any(${[...domainIds]}::int[]) and state <> 'retired'
     order by array_position('{active,next,retiring}', state), id`
}

/** Selects all selectors the name ever had under this account, whose records may still be in the DNS. */
export async function selectSelectors(sql: AnySql, accountId: number, name: string): Promise<string[]> {
  const rows = await sql<{ selector: string }[]>`
    select k.selector from dkim_keys k join domains d on d.id = k.domain_id
     where d.name = ${name} and d.account_id = ${accountId}`
  return rows.map(({ selector }) => selector)
}

/**
 * Makes the next key the signing key, and deletes the private key of the previous one. If the domain was never sent
 * from (`unused`), the previous record is not needed any longer.
 */
export async function promoteNextKey(sql: AnySql, domainId: number, unused: boolean): Promise<void> {
  if (unused) await retire(sql, domainId, 'active')
  else {
    await sql`
      update dkim_keys set state = 'retiring', private_key = '', retire_at = service_now() + ${RETIRES_AFTER}::text::interval
       where domain_id = ${domainId} and state = 'active'`
  }
  await sql`update dkim_keys set state = 'active' where domain_id = ${domainId} and state = 'next'`
}

/** Retires keys and deletes their private keys. */
export async function retire(sql: AnySql, domainId: number, state: DkimKeyState): Promise<void> {
  await sql`
    update dkim_keys set state = 'retired', private_key = '' where domain_id = ${domainId} and state = ${state}`
}

/** Retires keys whose signatures no longer need to be verified. */
export async function retirePastKeys(sql: AnySql, domainId: number): Promise<void> {
  await sql`
    update dkim_keys set state = 'retired'
     where domain_id = ${domainId} and state = 'retiring' and retire_at <= service_now()`
}
