import type { AnySql } from '../../platform/database/database.ts'
import type { DkimAlgorithm, DkimKeyState } from '../domain.ts'

/**
 * How long the record of a former signing key must stay published: signatures are valid for seven days, and a worker
 * may sign with its cached key for a minute after a rotation.
 */
const RETIRES_AFTER = '8 days'

export interface NewDkimKey {
  readonly domainId: number
  readonly algorithm: DkimAlgorithm
  readonly selector: string
  readonly publicKey: Buffer
  readonly privateKey: Buffer
  readonly state: 'next' | 'active'
}

export interface StoredPublicKey {
  readonly domainId: number
  readonly algorithm: DkimAlgorithm
  readonly selector: string
  /** As in the table of its algorithm: SubjectPublicKeyInfo (DER) for RSA, the 32 octets of Ed25519. */
  readonly publicKey: Buffer
  readonly state: DkimKeyState
}

/** The keys that sign for a domain. */
export interface StoredDkimKeys {
  readonly domain: string
  readonly selector: string
  readonly privateKey: Buffer
  readonly ed25519Selector: string | null
  readonly ed25519PrivateKey: Buffer | null
  readonly returnPathHost: string | null
}

/** The keys of an algorithm of a domain. */
export interface DomainKeys {
  readonly domainId: number
  readonly algorithm: DkimAlgorithm
}

const tableOf = (sql: AnySql, algorithm: DkimAlgorithm) => sql(algorithm === 'rsa' ? 'dkim_keys' : 'dkim_ed25519_keys')

export async function insertDkimKey(sql: AnySql, key: NewDkimKey): Promise<void> {
  await sql`
    insert into ${tableOf(sql, key.algorithm)} (domain_id, selector, public_key, private_key, state)
    values (${key.domainId}, ${key.selector}, ${key.publicKey}, ${key.privateKey}, ${key.state})`
}

/**
 * Selects the signing keys of a domain, deleted or not, because mail accepted before is still signed. The Ed25519 key signs while its record is
 * right: a verifier should not find a signature without its key.
 */
export async function selectDkimKeys(sql: AnySql, domainId: number): Promise<StoredDkimKeys | undefined> {
  const rows = await sql<StoredDkimKeys[]>`
    select d.name as domain, k.selector, k.private_key as "privateKey", d.return_path_host as "returnPathHost",
           e.selector as "ed25519Selector", e.private_key as "ed25519PrivateKey"
      from dkim_keys k join domains d on d.id = k.domain_id
      left join dkim_ed25519_keys e on e.domain_id = d.id and e.state = 'active'
       and d.records->('TXT ' || e.selector || '._domainkey.' || d.name)->>'state' = 'right'
     where k.domain_id = ${domainId} and k.state = 'active'`
  return rows[0]
}

/** Selects the keys whose records should be published: those of RSA first, of each algorithm the signing key, the next one, then retiring ones. */
export async function selectPublicKeys(sql: AnySql, domainIds: readonly number[]): Promise<StoredPublicKey[]> {
  const keys = (algorithm: DkimAlgorithm) => sql`
    select ${algorithm}::text as algorithm, id, domain_id as "domainId", selector, public_key as "publicKey", state
      from ${tableOf(sql, algorithm)} where domain_id = any(${[...domainIds]}::int[]) and state <> 'retired'`
  return sql<StoredPublicKey[]>`
    select algorithm, "domainId", selector, "publicKey", state from (${keys('rsa')} union all ${keys('ed25519')}) keys
     order by algorithm = 'ed25519', array_position('{active,next,retiring}', state), id`
}

/** Selects all selectors the name ever had under this account, whose records may still be in the DNS. */
export async function selectSelectors(sql: AnySql, accountId: number, name: string): Promise<string[]> {
  const selectors = (algorithm: DkimAlgorithm) => sql`
    select k.selector from ${tableOf(sql, algorithm)} k join domains d on d.id = k.domain_id
     where d.name = ${name} and d.account_id = ${accountId}`
  const rows = await sql<{ selector: string }[]>`${selectors('rsa')} union all ${selectors('ed25519')}`
  return rows.map(({ selector }) => selector)
}

/**
 * Makes the next key the signing key, and deletes the private key of the previous one. If the domain was never sent
 * from (`unused`), the previous record is not needed any longer.
 */
export async function promoteNextKey(sql: AnySql, keys: DomainKeys, unused: boolean): Promise<void> {
  await stopSigning(sql, keys, unused)
  await sql`
    update ${tableOf(sql, keys.algorithm)} set state = 'active' where domain_id = ${keys.domainId} and state = 'next'`
}

/** Deletes the private key that signs. See {@link promoteNextKey}. */
export async function stopSigning(sql: AnySql, keys: DomainKeys, unused: boolean): Promise<void> {
  if (unused) return retire(sql, keys, 'active')
  await sql`
    update ${tableOf(sql, keys.algorithm)}
       set state = 'retiring', private_key = '', retire_at = service_now() + ${RETIRES_AFTER}::text::interval
     where domain_id = ${keys.domainId} and state = 'active'`
}

/** Retires keys and deletes their private keys. */
export async function retire(sql: AnySql, { domainId, algorithm }: DomainKeys, state: DkimKeyState): Promise<void> {
  await sql`
    update ${tableOf(sql, algorithm)} set state = 'retired', private_key = '' where domain_id = ${domainId} and state = ${state}`
}

/** Retires keys whose signatures no longer need to be verified. */
export async function retirePastKeys(sql: AnySql, { domainId, algorithm }: DomainKeys): Promise<void> {
  await sql`
    update ${tableOf(sql, algorithm)} set state = 'retired'
     where domain_id = ${domainId} and state = 'retiring' and retire_at <= service_now()`
}
