import { createCache } from '../../platform/cache.ts'
import { ServiceError } from '../../platform/errors.ts'
import { networkOf } from '../../platform/net/networks.ts'
import type { InvalidKeyThrottle } from './invalid-key-throttle.ts'
import { hashApiKey, looksLikeApiKey } from './key-format.ts'
import type { Look } from './shared-look.ts'

/** A revoked key must be rejected within 5 s by every process, so keys are cached for less than that. */
export const KEY_AGE_MS = 3000
/** Keys that are remembered, with their hashes: more accounts than that rarely send within seconds. */
const MAX_KEYS = 10_000

export interface KeyLookupDependencies<Holder> {
  readonly throttle: InvalidKeyThrottle
  /** Returns the holder of the valid key with this hexadecimal hash, or null. */
  readonly load: (hash: string) => Promise<Holder | null>
  /** Returns those of the hexadecimal hashes that belong to valid keys. */
  readonly look: Look
}

/**
 * Returns a function that looks up the holder of a key presented from an address, and throws wrongKeysTooMany and
 * keyInvalid.
 */
export function createKeyLookup<Holder extends object>({
  throttle,
  load,
  look,
}: KeyLookupDependencies<Holder>): (secret: string, address: string) => Promise<Holder> {
  const holders = createCache<Holder | null>({
    maxAge: KEY_AGE_MS,
    maxEntries: MAX_KEYS,
    load,
  })
  /**
   * Hashes of valid keys. A relayed message presents its key twice, and would otherwise be checked and hashed each
   * time.
   */
  const hashes = new Map<string, string>()

  return async (secret, address) => {
    const wrong = async (reason: string): Promise<ServiceError> => {
      await throttle.note(networkOf(address))
      return new ServiceError('keyInvalid', { reason })
    }
    const admit = (key: string, wrong: boolean): Promise<boolean> =>
      throttle.admit(networkOf(address), { key, wrong }, look)
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
    if (hashes.size >= MAX_KEYS) hashes.clear()
    hashes.set(secret, hash)
    return holder
  }
}
