import { gather } from '../../platform/concurrency/gather.ts'
import type { Sql } from '../../platform/database/database.ts'
import { NetworkList } from '../../platform/net/networks.ts'
import type { Principal } from './api-key.ts'
import { type KeyHolder, selectKeyHolders, selectLiveHashes } from './holder-store.ts'
import type { InvalidKeyThrottle } from './invalid-key-throttle.ts'
import { createKeyLookup } from './key-lookup.ts'
import { ratesOf } from './rates.ts'
import { isUnrestricted } from './restrictions.ts'

/** Keys that are loaded by one statement. */
const MAX_LOADED = 100

export interface Holder {
  readonly principal: Principal
  readonly networkList: NetworkList
  /** A subaccount disabled by its parent. */
  readonly disabled: boolean
  /** The account is closed, to be deleted. */
  readonly closed: boolean
}

export interface KeyHoldersDependencies {
  readonly sql: Sql
  readonly callsPerMinute: number
  readonly throttle: InvalidKeyThrottle
}

/** Returns a function that looks up the holder of an account's key. See key-lookup.ts. */
export function createKeyHolders({
  sql,
  callsPerMinute,
  throttle,
}: KeyHoldersDependencies): (secret: string, address: string) => Promise<Holder> {
  // Calls of many accounts mostly arrive together, after the commit that answered the calls before.
  const select = gather((hashes: readonly string[]) => selectKeyHolders(sql, hashes), MAX_LOADED)
  return createKeyLookup<Holder>({
    throttle,
    look: (hashes) => selectLiveHashes(sql, hashes),
    async load(hash) {
      const holder = await select(hash)
      return holder && holderFor(holder, callsPerMinute)
    },
  })
}

export function holderFor(holder: KeyHolder, callsPerMinute: number): Holder {
  const { networks, disabled, closed } = holder
  return { principal: principalFor(holder, callsPerMinute), networkList: new NetworkList(networks), disabled, closed }
}

export function principalFor(holder: KeyHolder, callsPerMinute: number): Principal {
  const { account, mailDefaults, keyId, scopes, restrictions, v3Rights, expired } = holder
  const activeRestrictions = isUnrestricted(restrictions) ? null : restrictions
  const rates = ratesOf(holder, callsPerMinute)
  return { account, mailDefaults, keyId, scopes, restrictions: activeRestrictions, v3Rights, expired, rates }
}
