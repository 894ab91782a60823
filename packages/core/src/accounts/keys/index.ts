import { createCache } from '../../platform/cache.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Sql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { Log } from '../../platform/process/log.ts'
import type { RateLimits } from '../rate-limits/index.ts'
import { createActingFor } from './acting-for.ts'
import type { Principal, Scope } from './api-key.ts'
import { authenticate, principalAt } from './authenticate.ts'
import { selectKeyHolder, selectUserHolder } from './holder-store.ts'
import { createSharedCount, InvalidKeyThrottle } from './invalid-key-throttle.ts'
import { createKeyHolders, type Holder, holderFor, principalFor } from './key-holders.ts'
import { KEY_AGE_MS } from './key-lookup.ts'
import { createKeys, type Keys } from './keys.ts'
import { createLastUsed } from './last-used.ts'
import { createOperatorKeys, type OperatorKeys } from './operator-keys.ts'

export {
  type ApiKey,
  allows,
  holderOf,
  type Principal,
  type Restrictions,
  SCOPES,
  type Scope,
  UNRESTRICTED,
} from './api-key.ts'
export type { KeyCaller, KeyChange, KeySecret, NewKey } from './keys.ts'
export type { OperatorKey } from './operator-keys.ts'
export {
  createRelayNetworks,
  type ListedRelayNetwork,
  type RelayNetwork,
  type RelayNetworks,
} from './relay-networks.ts'
export { requireScope } from './require-scope.ts'
export type { RestrictionsChange } from './restrictions.ts'

export interface Auth extends Keys, OperatorKeys {
  /**
   * Returns the principal of a key presented from an address. Throws keyMissing, wrongKeysTooMany, keyInvalid,
   * addressNotAllowed, in this order (v2 contract section 3), accountClosed, and accountSuspended for a subaccount disabled by its
   * parent. Whether the account may send is checked later, by the message rules.
   *
   * `onBehalfOf`: the user name of a subaccount the caller acts for. Throws subaccountUnknown.
   */
  authenticate(secret: string | undefined, address: string, onBehalfOf?: string): Promise<Principal>
  /**
   * Returns the principal of a key for a client that need not present it, since the operator has listed its network. Throws keyInvalid, addressNotAllowed,
   * accountClosed and accountSuspended.
   */
  authenticateByNetwork(keyId: number, address: string): Promise<Principal>
  /**
   * Current permissions of a key, for work that was requested with it and runs later. Null if the key is revoked or
   * expired.
   */
  principalOf(keyId: number): Promise<Principal | null>
  /** A user who is logged in, as a principal with the scopes of their role; its `keyId` is 0. Null for an unknown account. */
  principalOfUser(accountId: number, scopes: readonly Scope[]): Promise<Principal | null>
}

export interface AuthDependencies {
  readonly sql: Sql
  readonly log: Log
  readonly rateLimits: RateLimits
  readonly config: Pick<Config, 'callsPerMinute' | 'wrongKeysPerMinute'>
}

/** Keys that are remembered; as many as there are networks. */
const MAX_OF_NETWORKS = 1000

export function createAuth({ sql, log, rateLimits, config }: AuthDependencies): Auth {
  const { callsPerMinute, wrongKeysPerMinute } = config
  const throttle = new InvalidKeyThrottle(wrongKeysPerMinute, createSharedCount(rateLimits, wrongKeysPerMinute))
  const holderOf = createKeyHolders({ sql, callsPerMinute, throttle })
  const actingFor = createActingFor(sql, throttle)
  const lastUsed = createLastUsed(sql, log)
  const ofNetworks = createCache<Holder | null>({
    maxAge: KEY_AGE_MS,
    maxEntries: MAX_OF_NETWORKS,
    async load(id) {
      const holder = await selectKeyHolder(sql, Number(id))
      return holder && holderFor(holder, callsPerMinute)
    },
  })
  const operatorKeys = createOperatorKeys({ sql, log, throttle })
  return {
    ...createKeys(sql),
    ...operatorKeys,
    authenticate: (secret, address, onBehalfOf) =>
      authenticate({ holderOf, actingFor, lastUsed }, secret, address, onBehalfOf),
    async authenticateByNetwork(keyId, address) {
      const holder = await ofNetworks.get(String(keyId))
      if (!holder) throw new ServiceError('keyInvalid', { reason: `key ${keyId} of a network is revoked or expired` })
      return principalAt(holder, address, lastUsed)
    },
    async principalOf(keyId) {
      const holder = await selectKeyHolder(sql, keyId)
      return holder && principalFor(holder, callsPerMinute)
    },
    async principalOfUser(accountId, scopes) {
      const holder = await selectUserHolder(sql, accountId, scopes)
      return holder && principalFor(holder, callsPerMinute)
    },
    close: async () => {
      await Promise.all([lastUsed.close(), operatorKeys.close()])
    },
  }
}
