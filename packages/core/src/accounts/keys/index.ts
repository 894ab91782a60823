import { createCache } from '../../platform/cache.ts'
import type { Sql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { Log } from '../../platform/log.ts'
import { NetworkList } from '../../platform/networks.ts'
import type { RateLimits } from '../rate-limits/index.ts'
import { allows, type Principal, type Scope } from './api-key.ts'
import { sharedCountOf, sourceOf, WrongKeyBrake } from './brake.ts'
import { hashApiKey, looksLikeApiKey } from './key-format.ts'
import { type Keys, keysOf } from './keys.ts'
import { lastUsedOf } from './last-used.ts'
import { ratesFor, ratesOf } from './rates.ts'
import { isUnrestricted } from './restrictions.ts'
import {
  type KeyHolder,
  type Subaccount,
  selectKeyHolder,
  selectLiveHashes,
  selectSubaccount,
  selectUsernames,
} from './store.ts'

export { type ApiKey, allows, holderOf, type Principal, type Restrictions, SCOPES, type Scope } from './api-key.ts'
export type { KeyCaller, KeyChange, KeySecret, NewKey } from './keys.ts'
export type { RestrictionsChange } from './restrictions.ts'

/** A revoked key must be rejected within 5 s by every process, so keys are cached for less than that. */
const KEY_AGE_MS = 3000
const MAX_HASHES = 1000

export interface Auth extends Keys {
  /**
   * Returns the principal of a key presented from an address. Throws keyMissing, wrongKeysTooMany, keyInvalid,
   * addressNotAllowed, in this order (v2 contract section 3), and accountSuspended for a subaccount disabled by its
   * parent. Whether the account may send is checked later, by the message rules.
   *
   * `onBehalfOf`: the user name of a subaccount the caller acts for. Throws subaccountUnknown.
   */
  authenticate(secret: string | undefined, address: string, onBehalfOf?: string): Promise<Principal>
  /**
   * Current permissions of a key, for work that was requested with it and runs later. Null if the key is revoked or
   * expired.
   */
  principalOf(keyId: number): Promise<Principal | null>
  /** Writes pending updates. */
  close(): Promise<void>
}

export interface AuthDependencies {
  readonly sql: Sql
  readonly log: Log
  /**
   * API calls except sendEmail that an account may make per minute unless the operator set another limit; 0 means unlimited.
   */
  readonly callsPerMinute: number
  readonly rateLimits: RateLimits
  /** Invalid keys that one IP address may present to all processes per minute; 0 means unlimited. */
  readonly wrongKeysPerMinute: number
}

interface Holder {
  readonly principal: Principal
  readonly networkList: NetworkList
  /** A subaccount disabled by its parent. */
  readonly disabled: boolean
}

export function authOf({ sql, log, rateLimits, callsPerMinute, wrongKeysPerMinute }: AuthDependencies): Auth {
  const holders = createCache<Holder | null>({
    maxAge: KEY_AGE_MS,
    maxEntries: 10_000,
    load: async (hash) => {
      const holder = await selectKeyHolder(sql, { hash: Buffer.from(hash, 'hex') })
      if (!holder) return null
      return {
        principal: principalFor(holder, callsPerMinute),
        networkList: new NetworkList(holder.networks),
        disabled: holder.disabled,
      }
    },
  })

  const subaccounts = createCache<Subaccount | null>({
    maxAge: KEY_AGE_MS,
    maxEntries: 10_000,
    load: (parentAndName) => {
      const [parentId, name] = JSON.parse(parentAndName) as [number, string]
      return selectSubaccount(sql, parentId, name)
    },
  })

  const throttle = new WrongKeyBrake(wrongKeysPerMinute, sharedCountOf(rateLimits, wrongKeysPerMinute))
  const lastUsed = lastUsedOf(sql, log)
  /**
   * Hashes of valid keys. A relayed message presents its key twice, and would otherwise be checked and hashed each
   * time.
   */
  const hashes = new Map<string, string>()

  async function holderOf(secret: string, address: string): Promise<Holder> {
    const wrong = async (reason: string): Promise<ServiceError> => {
      await throttle.note(sourceOf(address))
      return new ServiceError('keyInvalid', { reason })
    }
    const admit = (key: string, wrong: boolean): Promise<boolean> =>
      throttle.admit(sourceOf(address), { key, wrong }, (shown) => selectLiveHashes(sql, shown))
    let hash = hashes.get(secret)
    if (hash === undefined) {
      if (!looksLikeApiKey(secret)) {
        await admit(secret, true)
        throw await wrong('malformed key')
      }
      hash = hashApiKey(secret).toString('hex')
    }
    const known = holders.peek(hash)
    // Keys that do not exist are not cached: guesses would evict the keys in use.
    const exists = known ? true : await admit(hash, known === null)
    const holder = exists && (await holders.get(hash))
    if (!holder) throw await wrong('unknown or revoked')
    if (hashes.size >= MAX_HASHES) hashes.clear()
    hashes.set(secret, hash)
    return holder
  }

  async function actingFor(principal: Principal, username: string): Promise<Principal> {
    const { account, keyId } = principal
    const name = username.trim().toLowerCase()
    const parentAndName = JSON.stringify([account.id, name])
    const known = subaccounts.peek(parentAndName)
    // User names can be guessed like keys, and each guess would query the database.
    const shown = { key: name, wrong: known === null }
    const look = (names: readonly string[]) => selectUsernames(sql, account.id, names)
    const exists = known ? true : await throttle.admit(`key ${keyId}`, shown, look)
    const subaccount = exists && (await subaccounts.get(parentAndName))
    if (!subaccount) {
      await throttle.note(`key ${keyId}`)
      throw new ServiceError('subaccountUnknown')
    }
    // A suspended or expired parent cannot send on behalf of a subaccount either.
    const expired = principal.expired || subaccount.expired
    const state = account.state === 'active' ? subaccount.account.state : account.state
    return {
      ...principal,
      account: { ...subaccount.account, state },
      mailDefaults: subaccount.mailDefaults,
      expired,
      rates: ratesFor(principal.rates, subaccount),
    }
  }

  return {
    ...keysOf(sql),

    async authenticate(secret, address, onBehalfOf) {
      if (!secret) throw new ServiceError('keyMissing')
      const { principal, networkList, disabled } = await holderOf(secret, address)
      if (!networkList.empty && !networkList.has(address)) {
        throw new ServiceError('addressNotAllowed', { reason: `key ${principal.keyId}` })
      }
      if (disabled) throw new ServiceError('accountSuspended', { reason: `subaccount of key ${principal.keyId}` })
      lastUsed.note(principal.keyId)
      return onBehalfOf ? actingFor(principal, onBehalfOf) : principal
    },

    async principalOf(keyId) {
      const holder = await selectKeyHolder(sql, { id: keyId })
      return holder && principalFor(holder, callsPerMinute)
    },

    close: () => lastUsed.close(),
  }
}

function principalFor(holder: KeyHolder, callsPerMinute: number): Principal {
  const { account, mailDefaults, keyId, scopes, restrictions, v3Rights, expired } = holder
  const activeRestrictions = isUnrestricted(restrictions) ? null : restrictions
  const rates = ratesOf(holder, callsPerMinute)
  return { account, mailDefaults, keyId, scopes, restrictions: activeRestrictions, v3Rights, expired, rates }
}

/** Throws scopeMissing unless the principal's key has the scope. */
export function requireScope(principal: Pick<Principal, 'keyId' | 'scopes'>, scope: Exclude<Scope, 'all'>): void {
  if (!allows(principal.scopes, scope)) {
    throw new ServiceError('scopeMissing', { reason: `key ${principal.keyId} lacks ${scope}` })
  }
}
