import { isDeepStrictEqual } from 'node:util'
import { type AnySql, databaseErrorCode, type Sql } from '../../platform/database/database.ts'
import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import { type Actor, type AuditValues, noteChange, OPERATOR } from '../audit/index.ts'
import { requireActive, requireNotDeleted } from '../require-active.ts'
import { type ApiKey, type KeyPage, UNRESTRICTED } from './api-key.ts'
import { apiKeyPrefix, hashApiKey, makeApiKey } from './key-format.ts'
import { moveRelayNetworks } from './relay-networks.ts'
import { changedRestrictions, type RestrictionsChange } from './restrictions.ts'
import { quotaOf, type Rights, requireSameQuota, requireWithin } from './rights.ts'
import {
  countApiKeys,
  insertApiKey,
  replaceApiKey,
  restoreApiKey,
  revokeApiKey,
  selectApiKey,
  selectApiKeys,
  updateApiKey,
} from './store.ts'
import { validName, validNetworks, validScopes } from './valid-key.ts'

export interface NewKey extends KeyChange {
  readonly accountId: number
}

/**
 * Changes to a key; omitted fields are unchanged. A new key inherits omitted fields from the key that creates it, and
 * is unrestricted if the operator creates it.
 */
export interface KeyChange {
  readonly name?: string | undefined
  readonly scopes?: readonly string[] | undefined
  /** Networks or IP addresses the key may be used from; if empty, any. */
  readonly networks?: readonly string[] | undefined
  readonly restrictions?: RestrictionsChange | undefined
  /** See ApiKey. If scopes are given without it, it is reset to what the caller's key has. */
  readonly v3Rights?: readonly string[] | undefined
}

/**
 * `accountId`: the account that must own the key; undefined: any account. `by`: recorded in the audit log; a key can
 * only manage keys within its own permissions.
 */
export interface KeyCaller {
  readonly accountId?: number
  readonly by?: Actor
}

export interface KeySecret {
  readonly key: ApiKey
  /** Shown once; only its hash is stored. */
  readonly secret: string
}

export interface Keys {
  /** Throws parameterInvalid (account, name, scopes, networks, restrictions), keysTooMany, keyRestricted, accountSuspended. */
  createKey(key: NewKey, by?: Actor): Promise<KeySecret>
  /** Throws what createKey would throw for the key, without creating it. */
  checkKey(key: NewKey, by?: Actor): Promise<void>
  /** By id, including revoked ones, if the page does not say otherwise. */
  listKeys(accountId: number, page?: Partial<KeyPage>): Promise<ApiKey[]>
  countKeys(accountId: number): Promise<number>
  /** Throws keyUnknown. */
  showKey(id: number): Promise<ApiKey>
  /** Takes effect in every process within 5 s. Throws keyUnknown, parameterInvalid, keyRestricted. */
  updateKey(id: number, change: KeyChange, caller?: KeyCaller): Promise<ApiKey>
  /**
   * Creates a successor with the same permissions. The old key stays valid for a grace period of `overlapHours`, unless
   * it expires earlier.
   *
   * Throws keyUnknown, parameterInvalid (already replaced; overlap_hours), keysTooMany, keyRestricted, accountSuspended.
   */
  rotateKey(id: number, overlapHours?: number, caller?: KeyCaller): Promise<KeySecret & { readonly replaced: ApiKey }>
  /** Every process rejects the key within 5 s. Throws keyUnknown, and keyRestricted for a key that the caller could not create. */
  revokeKey(id: number, caller?: KeyCaller): Promise<ApiKey>
  /**
   * Takes back a revocation of the last minute. Throws keyUnknown for any other key, and keyRestricted as revokeKey does, accountSuspended.
   */
  restoreKey(id: number, caller?: KeyCaller): Promise<ApiKey>
}

const MAX_KEYS = 1000
const DEFAULT_OVERLAP_HOURS = 24
const MAX_OVERLAP_HOURS = 30 * 24

export function createKeys(sql: Sql): Keys {
  return {
    async createKey(key, by = OPERATOR) {
      try {
        return await inTransaction(sql, async (transaction) => {
          await requireNotDeleted(transaction, key.accountId)
          return makeKey(transaction, key, by)
        })
      } catch (error) {
        if (databaseErrorCode(error) === '23503') throw invalidParameter('account', 'does not exist')
        throw error
      }
    },

    async checkKey(key, by = OPERATOR) {
      await requireNotDeleted(sql, key.accountId)
      await wantedKey(sql, key, by)
      await requireCapacity(sql, key.accountId, 1)
    },

    listKeys: (accountId, { after = 0, limit = MAX_KEYS, newestFirst = false, onlyValid = false } = {}) =>
      selectApiKeys(sql, accountId, { after, limit, newestFirst, onlyValid }),
    countKeys: async (accountId) => (await countApiKeys(sql, accountId)).all,
    async showKey(id) {
      const key = await selectApiKey(sql, { id })
      if (!key) throw new ServiceError('keyUnknown')
      return key
    },

    async updateKey(id, { name, scopes, networks, restrictions = {}, v3Rights }, { accountId, by = OPERATOR } = {}) {
      return inTransaction(sql, async (transaction) => {
        const { key, own } = await lockManagedKey(transaction, id, accountId, by)
        const wanted = {
          name: name === undefined ? key.name : validName(name),
          scopes: scopes ? validScopes(scopes) : key.scopes,
          networks: networks ? validNetworks(networks) : key.networks,
          restrictions: changedRestrictions(key.restrictions, restrictions),
          v3Rights: v3Rights ?? (scopes ? (own?.v3Rights ?? null) : key.v3Rights),
        }
        if (own) requireWithin(wanted, own)
        const changed = await updateApiKey(transaction, id, wanted)
        const [before, after] = [auditValues(key), auditValues(changed)]
        if (!isDeepStrictEqual(before, after)) await note(transaction, key, by, 'key.update', { before, after })
        return changed
      })
    },

    async rotateKey(id, overlapHours = DEFAULT_OVERLAP_HOURS, { accountId, by = OPERATOR } = {}) {
      if (!Number.isInteger(overlapHours) || overlapHours < 0 || overlapHours > MAX_OVERLAP_HOURS) {
        throw invalidParameter('overlap_hours', `must be a whole number from 0 to ${MAX_OVERLAP_HOURS}`)
      }
      const secret = makeApiKey()
      return inTransaction(sql, async (transaction) => {
        const { key: old } = await lockManagedKey(transaction, id, accountId, by)
        await requireActive(transaction, old.accountId, by)
        if (old.revokedAt || old.expired) throw invalidParameter('id', 'key is revoked or expired')
        if (old.replacedBy !== null)
          throw invalidParameter('id', `key was already rotated; its successor is key ${old.replacedBy}`)
        const key = await insertApiKey(transaction, {
          ...old,
          ...storedSecret(secret),
          // Both keys share one quota, so that the grace period does not double it.
          countsWith: quotaOf(old),
        })
        const replaced = await replaceApiKey(transaction, id, key.id, overlapHours)
        await moveRelayNetworks(transaction, id, key.id)
        const after = { ...auditValues(replaced), replacedBy: key.id, overlapHours }
        await note(transaction, old, by, 'key.rotate', { before: auditValues(old), after })
        await requireCapacity(transaction, old.accountId)
        return { key, secret, replaced }
      })
    },

    async revokeKey(id, { accountId, by = OPERATOR } = {}) {
      return inTransaction(sql, async (transaction) => {
        const key = await selectApiKey(transaction, { id, accountId, lock: true })
        if (!key) throw new ServiceError('keyUnknown')
        if (key.revokedAt) return key
        const own = await callersKey(transaction, by)
        if (own) requireWithin(key, own)
        const revoked = await revokeApiKey(transaction, id)
        await note(transaction, key, by, 'key.revoke', { before: auditValues(key), after: auditValues(revoked) })
        return revoked
      })
    },

    async restoreKey(id, { accountId, by = OPERATOR } = {}) {
      return inTransaction(sql, async (transaction) => {
        const key = await selectApiKey(transaction, { id, accountId, lock: true })
        const own = key && (await callersKey(transaction, by))
        if (key && own) requireWithin(key, own)
        if (key) await requireActive(transaction, key.accountId, by)
        const restored = key && (await restoreApiKey(transaction, id))
        if (!restored) throw new ServiceError('keyUnknown')
        await note(transaction, key, by, 'key.restore', { before: auditValues(key), after: auditValues(restored) })
        await requireCapacity(transaction, key.accountId)
        return restored
      })
    },
  }
}

/**
 * Creates a key within the permissions of the caller's key. Throws the same errors as createKey, except that an unknown
 * account causes a database error.
 */
export async function makeKey(sql: AnySql, newKey: NewKey, by: Actor): Promise<KeySecret> {
  const { accountId } = newKey
  const secret = makeApiKey()
  const { own, wanted } = await wantedKey(sql, newKey, by)
  const key = await insertApiKey(sql, {
    ...wanted,
    accountId,
    ...storedSecret(secret),
    countsWith: own && hasQuota(own) ? quotaOf(own) : null,
  })
  await note(sql, key, by, 'key.create', { after: auditValues(key) })
  await requireCapacity(sql, accountId)
  return { key, secret }
}

/** Returns the permissions of a new key, and those of the caller's key. */
async function wantedKey(
  sql: AnySql,
  { accountId, name = '', scopes, networks, restrictions = {}, v3Rights }: NewKey,
  by: Actor,
): Promise<{ readonly wanted: Rights & Pick<ApiKey, 'name'>; readonly own: CallersRights | undefined }> {
  const own = await callersKey(sql, by)
  const wanted = {
    name: validName(name),
    scopes: scopes ? validScopes(scopes) : (own?.scopes ?? ['all']),
    networks: networks ? validNetworks(networks) : (own?.networks ?? []),
    restrictions: changedRestrictions(own?.restrictions ?? UNRESTRICTED, restrictions),
    v3Rights: v3Rights ?? own?.v3Rights ?? null,
  }
  if (own) requireWithin(wanted, own)
  await requireActive(sql, accountId, by)
  return { wanted, own }
}

type CallersRights = Rights & Pick<ApiKey, 'id' | 'countsWith'>

function inTransaction<T>(sql: Sql, fn: (transaction: AnySql) => Promise<T>): Promise<T> {
  return sql.begin(fn) as Promise<T>
}

/**
 * Returns the caller's key with its current permissions, or what a user's role permits; undefined for the operator. Throws
 * keyInvalid.
 */
async function callersKey(sql: AnySql, { keyId, scopes }: Actor): Promise<CallersRights | undefined> {
  if (keyId === null) {
    return scopes && { id: 0, countsWith: null, scopes, networks: [], restrictions: UNRESTRICTED, v3Rights: null }
  }
  const own = await selectApiKey(sql, { id: keyId })
  if (!own || own.revokedAt || own.expired) throw new ServiceError('keyInvalid', { reason: 'revoked during the call' })
  return own
}

/**
 * Returns the key to change, locked until the end of the transaction. It must be within the permissions of the caller's
 * key.
 */
async function lockManagedKey(
  sql: AnySql,
  id: number,
  accountId: number | undefined,
  by: Actor,
): Promise<{ key: ApiKey; own: CallersRights | undefined }> {
  const key = await selectApiKey(sql, { id, accountId, lock: true })
  if (!key) throw new ServiceError('keyUnknown')
  const own = await callersKey(sql, by)
  // Rotating a key with more permissions, or removing its restrictions, would give the caller those permissions.
  if (own) requireWithin(key, own)
  if (own) requireSameQuota(key, own)
  return { key, own }
}

function storedSecret(secret: string): { prefix: string; hash: Buffer } {
  return { prefix: apiKeyPrefix(secret), hash: hashApiKey(secret) }
}

function hasQuota({ restrictions }: Rights): boolean {
  return restrictions.recipientsPerHour !== null || restrictions.callsPerMinute !== null
}

/** Checked after the audit entry: writing it serializes the account's changes, so that the count is exact. */
async function requireCapacity(sql: AnySql, accountId: number, more = 0): Promise<void> {
  const { live } = await countApiKeys(sql, accountId)
  if (live + more > MAX_KEYS) throw new ServiceError('keysTooMany', { values: { limit: MAX_KEYS } })
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

/** Values of a key for the audit log. */
function auditValues({ name, scopes, networks, restrictions, v3Rights, revokedAt }: ApiKey): AuditValues {
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
