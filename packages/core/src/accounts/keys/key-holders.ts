import { createCache } from '../../platform/cache.ts'
import type { Sql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import { NetworkList } from '../../platform/networks.ts'
import type { Principal } from './api-key.ts'
import { type InvalidKeyThrottle, sourceOf } from './invalid-key-throttle.ts'
import { hashApiKey, looksLikeApiKey } from './key-format.ts'
import { ratesOf } from './rates.ts'
import { isUnrestricted } from './restrictions.ts'
import { type KeyHolder, selectKeyHolder, selectLiveHashes } from './store.ts'

/** A revoked key must be rejected within 5 s by every process, so keys are cached for less than that. */
export const KEY_AGE_MS = 3000
const MAX_HASHES = 1000

export interface Holder {
  readonly principal: Principal
  readonly networkList: NetworkList
  /** A subaccount disabled by its parent. */
  readonly disabled: boolean
}

export interface KeyHoldersDependencies {
  readonly sql: Sql
  readonly callsPerMinute: number
  readonly throttle: InvalidKeyThrottle
}

/**
 * Returns a function that looks up the holder of a key presented from an address, and throws wrongKeysTooMany and
 * keyInvalid.
 */
export function createKeyHolders({
  sql,
  callsPerMinute,
  throttle,
}: KeyHoldersDependencies): (secret: string, address: string) => Promise<Holder> {
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
  /**
   * Hashes of valid keys. A relayed message presents its key twice, and would otherwise be checked and hashed each
   * time.
   */
  const hashes = new Map<string, string>()

  return async (secret, address) => {
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
}

export function principalFor(holder: KeyHolder, callsPerMinute: number): Principal {
  const { account, mailDefaults, keyId, scopes, restrictions, v3Rights, expired } = holder
  const activeRestrictions = isUnrestricted(restrictions) ? null : restrictions
  const rates = ratesOf(holder, callsPerMinute)
  return { account, mailDefaults, keyId, scopes, restrictions: activeRestrictions, v3Rights, expired, rates }
}
