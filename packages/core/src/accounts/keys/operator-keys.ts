import { type AnySql, onlyRow, type Sql } from '../../platform/database/database.ts'
import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import { NetworkList } from '../../platform/net/networks.ts'
import type { Log } from '../../platform/process/log.ts'
import { ALL_ACCOUNTS, noteChange, OPERATOR } from '../audit/index.ts'
import type { InvalidKeyThrottle } from './invalid-key-throttle.ts'
import { apiKeyPrefix, hashApiKey, makeApiKey } from './key-format.ts'
import { createKeyLookup } from './key-lookup.ts'
import { validName, validNetworks } from './key-values.ts'
import { createLastUsed } from './last-used.ts'

/** A key of the operator's HTTP interface. It belongs to no account, and permits nothing else. */
export interface OperatorKey {
  readonly id: number
  readonly name: string
  readonly prefix: string
  /** Networks the key may be used from; if empty, any of OPERATOR_NETWORKS. */
  readonly networks: readonly string[]
  readonly createdAt: Date
  /** Null if it does not expire. */
  readonly until: Date | null
  readonly revokedAt: Date | null
  /** Accurate to about a minute. */
  readonly lastUsedAt: Date | null
  /** Whether the key has expired, by the database's clock. */
  readonly expired: boolean
}

export interface NewOperatorKey {
  readonly name?: string | undefined
  readonly networks?: readonly string[] | undefined
  readonly until?: Date | undefined
}

/** Operator keys are created and revoked on the command line only. */
export interface OperatorKeys {
  /** The secret is shown once. Throws parameterInvalid (name, networks, until) and keysTooMany. */
  createOperatorKey(key: NewOperatorKey): Promise<{ readonly key: OperatorKey; readonly secret: string }>
  /** All keys, oldest first, including revoked ones. */
  listOperatorKeys(): Promise<OperatorKey[]>
  /** Every process rejects the key within 5 s. Returns undefined if it does not exist. */
  revokeOperatorKey(id: number): Promise<OperatorKey | undefined>
  /** Returns the operator key presented from an address. Throws keyMissing, wrongKeysTooMany, keyInvalid, addressNotAllowed. */
  authenticateOperator(secret: string | undefined, address: string): Promise<OperatorKey>
  /** Writes pending updates. */
  close(): Promise<void>
}

const MAX_KEYS = 1000

const columns = (sql: AnySql) => sql`
  id, name, prefix, networks::text[] as networks, created_at as "createdAt", expires_at as "until", revoked_at as "revokedAt",
  last_used_at as "lastUsedAt", coalesce(expires_at <= service_now(), false) as expired`

const isLive = (sql: AnySql) => sql`revoked_at is null and (expires_at is null or expires_at > service_now())`

export interface OperatorKeysDependencies {
  readonly sql: Sql
  readonly log: Log
  readonly throttle: InvalidKeyThrottle
}

export function createOperatorKeys({ sql, log, throttle }: OperatorKeysDependencies): OperatorKeys {
  const lastUsed = createLastUsed(sql, log, { record: recordUse })
  const find = createKeyLookup<{ readonly key: OperatorKey; readonly networkList: NetworkList }>({
    throttle,
    look: (hashes) => selectLive(sql, hashes),
    async load(hash) {
      const [key] = await sql<OperatorKey[]>`
        select ${columns(sql)} from operator_keys where hash = ${Buffer.from(hash, 'hex')} and ${isLive(sql)}`
      return key ? { key, networkList: new NetworkList(key.networks) } : null
    },
  })
  return {
    createOperatorKey: (key) => create(sql, key),
    listOperatorKeys: () => sql<OperatorKey[]>`select ${columns(sql)} from operator_keys order by id limit ${MAX_KEYS}`,
    revokeOperatorKey: (id) => revoke(sql, id),
    async authenticateOperator(secret, address) {
      if (!secret) throw new ServiceError('keyMissing')
      const { key, networkList } = await find(secret, address)
      if (!networkList.empty && !networkList.has(address)) {
        throw new ServiceError('addressNotAllowed', { reason: `operator key ${key.id}` })
      }
      lastUsed.note(key.id)
      return key
    },
    close: () => lastUsed.close(),
  }
}

async function create(sql: Sql, { name = '', networks = [], until }: NewOperatorKey) {
  const secret = makeApiKey()
  const wanted = { name: validName(name), networks: validNetworks(networks) }
  return sql.begin(async (transaction) => {
    const { count, past } = onlyRow(
      await transaction<{ count: number; past: boolean }[]>`
        select count(*)::int as count, coalesce(${until ?? null}::timestamptz <= service_now(), false) as past from operator_keys`,
    )
    if (past) throw invalidParameter('until', 'must be in the future')
    if (count >= MAX_KEYS) throw new ServiceError('keysTooMany', { values: { limit: MAX_KEYS } })
    const key = onlyRow(
      await transaction<OperatorKey[]>`
        insert into operator_keys (name, prefix, hash, networks, expires_at)
        values (${wanted.name}, ${apiKeyPrefix(secret)}, ${hashApiKey(secret)}, ${wanted.networks}::text[]::inet[]::cidr[],
                ${until ?? null}::timestamptz)
        returning ${columns(transaction)}`,
    )
    const change = { accountId: ALL_ACCOUNTS, by: OPERATOR, object: `key ${key.id}` }
    await noteChange(transaction, { ...change, action: 'operator-key.create', after: { ...wanted, until: key.until } })
    return { key, secret }
  }) as Promise<{ key: OperatorKey; secret: string }>
}

async function revoke(sql: Sql, id: number): Promise<OperatorKey | undefined> {
  return sql.begin(async (transaction) => {
    const [key] = await transaction<(OperatorKey & { was: Date | null })[]>`
      update operator_keys k set revoked_at = coalesce(k.revoked_at, service_now())
        from (select id as key_id, revoked_at as was from operator_keys where id = ${id} for update) before
       where k.id = before.key_id returning ${columns(transaction)}, was`
    if (!key) return undefined
    const { was, ...revoked } = key
    const change = { accountId: ALL_ACCOUNTS, by: OPERATOR, object: `key ${id}` }
    if (!was) await noteChange(transaction, { ...change, action: 'operator-key.revoke' })
    return revoked
  }) as Promise<OperatorKey | undefined>
}

/** Returns those of the hexadecimal hashes that belong to valid keys. */
async function selectLive(sql: AnySql, hashes: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ hash: string }[]>`
    select encode(hash, 'hex') as hash from operator_keys
     where hash = any(array(select decode(one, 'hex') from unnest(${[...hashes]}::text[]) one)) and ${isLive(sql)}`
  return new Set(rows.map(({ hash }) => hash))
}

async function recordUse(sql: AnySql, ids: readonly number[]): Promise<void> {
  await sql`
    update operator_keys set last_used_at = service_now()
     where id = any(${[...ids]}::int[]) and (last_used_at is null or last_used_at < service_now() - interval '30 seconds')`
}
