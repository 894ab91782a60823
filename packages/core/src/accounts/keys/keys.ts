import { isDeepStrictEqual } from 'node:util'
import { type AnySql, databaseErrorCode, type Sql } from '../../platform/database/database.ts'
import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import { parseNetworks } from '../../platform/networks.ts'
import { type Actor, type AuditValues, noteChange, OPERATOR } from '../audit/index.ts'
import { type ApiKey, SCOPES, type Scope, UNRESTRICTED } from './api-key.ts'
import { apiKeyPrefix, hashApiKey, makeApiKey } from './key-format.ts'
import { changedRestrictions, type RestrictionsChange } from './restrictions.ts'
import { allowanceOf, type Rights, requireSameAllowance, requireWithin } from './rights.ts'
import {
  countApiKeys,
  insertApiKey,
  replaceApiKey,
  revokeApiKey,
  selectApiKey,
  selectApiKeys,
  updateApiKey,
} from './store.ts'

export interface NewKey extends KeyChange {
  readonly accountId: number
}

/** What is not named stays as it is; a new key has then what the key has that makes it, and everything from the operator. */
export interface KeyChange {
  readonly name?: string | undefined
  readonly scopes?: readonly string[] | undefined
  /** Addresses or networks the key may be used from; none: from anywhere. */
  readonly networks?: readonly string[] | undefined
  readonly restrictions?: RestrictionsChange | undefined
  /** See ApiKey. Scopes that are given without it allow all that they are. */
  readonly v3Rights?: readonly string[] | undefined
}

/** Whose key it must be; undefined: anybody's. `by` is for the audit log, and a key has no power over what is beyond its rights. */
export interface KeyCaller {
  readonly accountId?: number
  readonly by?: Actor
}

export interface KeySecret {
  readonly key: ApiKey
  /** Told once: it is stored hashed. */
  readonly secret: string
}

export interface Keys {
  /** Throws parameterInvalid (account, name, scopes, networks, restrictions), keysTooMany, keyRestricted. */
  createKey(key: NewKey, by?: Actor): Promise<KeySecret>
  /** Keys after number `after`, oldest first, revoked ones too. */
  listKeys(accountId: number, page?: { after?: number; limit?: number }): Promise<ApiKey[]>
  countKeys(accountId: number): Promise<number>
  /** In effect in every process within 5 s. Throws keyUnknown, parameterInvalid, keyRestricted. */
  updateKey(id: number, change: KeyChange, caller?: KeyCaller): Promise<ApiKey>
  /**
   * A new key with the same rights takes over; the old one is good for `overlapHours` more, unless it ends before.
   *
   * Throws keyUnknown, parameterInvalid (it has been replaced; overlap_hours), keysTooMany, keyRestricted.
   */
  rotateKey(id: number, overlapHours?: number, caller?: KeyCaller): Promise<KeySecret & { readonly replaced: ApiKey }>
  /** Every process refuses the key at most 5 s later. Throws keyUnknown. */
  revokeKey(id: number, caller?: KeyCaller): Promise<ApiKey>
}

const MOST_KEYS = 1000
const OVERLAP_HOURS = 24
const LONGEST_OVERLAP_HOURS = 30 * 24

export function keysOf(sql: Sql): Keys {
  return {
    async createKey(key, by = OPERATOR) {
      try {
        return await inTransaction(sql, (transaction) => makeKey(transaction, key, by))
      } catch (error) {
        if (databaseErrorCode(error) === '23503') throw invalidParameter('account', 'does not exist')
        throw error
      }
    },

    listKeys: (accountId, { after = 0, limit = MOST_KEYS } = {}) => selectApiKeys(sql, accountId, { after, limit }),
    countKeys: async (accountId) => (await countApiKeys(sql, accountId)).all,

    async updateKey(id, { name, scopes, networks, restrictions = {}, v3Rights }, { accountId, by = OPERATOR } = {}) {
      return inTransaction(sql, async (transaction) => {
        const { key, own } = await handled(transaction, id, accountId, by)
        const wanted = {
          name: name === undefined ? key.name : knownName(name),
          scopes: scopes ? knownScopes(scopes) : key.scopes,
          networks: networks ? knownNetworks(networks) : key.networks,
          restrictions: changedRestrictions(key.restrictions, restrictions),
          v3Rights: v3Rights ?? (scopes ? (own?.v3Rights ?? null) : key.v3Rights),
        }
        if (own) requireWithin(wanted, own)
        const changed = await updateApiKey(transaction, id, wanted)
        const [before, after] = [shown(key), shown(changed)]
        if (!isDeepStrictEqual(before, after)) await note(transaction, key, by, 'key.update', { before, after })
        return changed
      })
    },

    async rotateKey(id, overlapHours = OVERLAP_HOURS, { accountId, by = OPERATOR } = {}) {
      if (!Number.isInteger(overlapHours) || overlapHours < 0 || overlapHours > LONGEST_OVERLAP_HOURS) {
        throw invalidParameter('overlap_hours', `must be a whole number from 0 to ${LONGEST_OVERLAP_HOURS}`)
      }
      const secret = makeApiKey()
      return inTransaction(sql, async (transaction) => {
        const { key: old } = await handled(transaction, id, accountId, by)
        if (old.revokedAt || old.expired) throw invalidParameter('id', 'key is revoked or expired')
        if (old.replacedBy !== null)
          throw invalidParameter('id', `key was already rotated; its successor is key ${old.replacedBy}`)
        const key = await insertApiKey(transaction, {
          ...old,
          ...whatIsKept(secret),
          // One allowance for the two of them: the overlap must not double it.
          countsWith: allowanceOf(old),
        })
        const replaced = await replaceApiKey(transaction, id, key.id, overlapHours)
        const after = { ...shown(replaced), replacedBy: key.id, overlapHours }
        await note(transaction, old, by, 'key.rotate', { before: shown(old), after })
        await requireRoom(transaction, old.accountId)
        return { key, secret, replaced }
      })
    },

    async revokeKey(id, { accountId, by = OPERATOR } = {}) {
      return inTransaction(sql, async (transaction) => {
        const key = await selectApiKey(transaction, { id, accountId, lock: true })
        if (!key) throw new ServiceError('keyUnknown')
        if (key.revokedAt) return key
        const revoked = await revokeApiKey(transaction, id)
        await note(transaction, key, by, 'key.revoke', { before: shown(key), after: shown(revoked) })
        return revoked
      })
    },
  }
}

/** Makes a key within the rights of the one that asks. Throws as createKey does; but for an unknown account, the database's own. */
export async function makeKey(
  sql: AnySql,
  { accountId, name = '', scopes, networks, restrictions = {}, v3Rights }: NewKey,
  by: Actor,
): Promise<KeySecret> {
  const secret = makeApiKey()
  const own = await callersKey(sql, by)
  const wanted = {
    name: knownName(name),
    scopes: scopes ? knownScopes(scopes) : (own?.scopes ?? ['all']),
    networks: networks ? knownNetworks(networks) : (own?.networks ?? []),
    restrictions: changedRestrictions(own?.restrictions ?? UNRESTRICTED, restrictions),
    v3Rights: v3Rights ?? own?.v3Rights ?? null,
  }
  if (own) requireWithin(wanted, own)
  const key = await insertApiKey(sql, {
    ...wanted,
    accountId,
    ...whatIsKept(secret),
    countsWith: own && isCounted(own) ? allowanceOf(own) : null,
  })
  await note(sql, key, by, 'key.create', { after: shown(key) })
  await requireRoom(sql, accountId)
  return { key, secret }
}

function inTransaction<T>(sql: Sql, act: (transaction: AnySql) => Promise<T>): Promise<T> {
  return sql.begin(act) as Promise<T>
}

/** The rights of the key that asks, as they stand now; undefined: the operator asks. Throws keyInvalid. */
async function callersKey(sql: AnySql, { keyId }: Actor): Promise<ApiKey | undefined> {
  if (keyId === null) return undefined
  const own = await selectApiKey(sql, { id: keyId })
  if (!own || own.revokedAt || own.expired) throw new ServiceError('keyInvalid', { reason: 'revoked meanwhile' })
  return own
}

/** The key to be changed, which nobody else changes till then. It must lie within the rights of the one that asks. */
async function handled(
  sql: AnySql,
  id: number,
  accountId: number | undefined,
  by: Actor,
): Promise<{ key: ApiKey; own: ApiKey | undefined }> {
  const key = await selectApiKey(sql, { id, accountId, lock: true })
  if (!key) throw new ServiceError('keyUnknown')
  const own = await callersKey(sql, by)
  // Who took over a wider key by rotating it would have its rights; and so would who lifts a bound of its use.
  if (own) requireWithin(key, own)
  if (own) requireSameAllowance(key, own)
  return { key, own }
}

function whatIsKept(secret: string): { prefix: string; hash: Buffer } {
  return { prefix: apiKeyPrefix(secret), hash: hashApiKey(secret) }
}

function isCounted({ restrictions }: Rights): boolean {
  return restrictions.recipientsPerHour !== null || restrictions.callsPerMinute !== null
}

/** After the note, which makes an account's changes one after the other, so that the count is exact. */
async function requireRoom(sql: AnySql, accountId: number): Promise<void> {
  const { live } = await countApiKeys(sql, accountId)
  if (live > MOST_KEYS) throw new ServiceError('keysTooMany', { values: { limit: MOST_KEYS } })
}

function note(
  sql: AnySql,
  { accountId, id }: ApiKey,
  by: Actor,
  action: string,
  values: { before?: AuditValues; after?: AuditValues },
): Promise<void> {
  return noteChange(sql, { accountId, by, action, object: `key ${id}`, ...values })
}

/** What the audit log keeps of a key. */
function shown({ name, scopes, networks, restrictions, v3Rights, revokedAt }: ApiKey): AuditValues {
  const set = Object.entries(restrictions).filter(([, value]) => value !== null)
  return {
    name,
    scopes,
    networks,
    ...Object.fromEntries(set),
    ...(v3Rights ? { v3Rights } : {}),
    ...(revokedAt ? { revokedAt } : {}),
  }
}

function knownName(name: string): string {
  const clean = name.trim()
  if (clean.length > 100) throw invalidParameter('name', 'must have at most 100 characters')
  if (/\p{C}/u.test(clean)) throw invalidParameter('name', 'must not contain control characters')
  return clean
}

function knownScopes(scopes: readonly string[]): Scope[] {
  for (const scope of scopes) {
    if (SCOPES.includes(scope as Scope)) continue
    const finer = scope.includes('.')
      ? "; SendGrid's names, such as mail.send, can only be granted with POST /v3/api_keys"
      : ''
    throw invalidParameter('scopes', `may contain only ${SCOPES.join(', ')}${finer}`)
  }
  return [...new Set(scopes)] as Scope[]
}

const MOST_NETWORKS = 100

function knownNetworks(networks: readonly string[]): string[] {
  if (networks.length > MOST_NETWORKS) throw invalidParameter('networks', `must have at most ${MOST_NETWORKS} entries`)
  try {
    return parseNetworks(networks)
  } catch (error) {
    throw invalidParameter('networks', (error as Error).message)
  }
}
