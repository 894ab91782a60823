import { createCache } from '../../platform/cache.ts'
import type { Sql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { Principal } from './api-key.ts'
import { type Subaccount, selectSubaccount, selectUsernames } from './holder-store.ts'
import type { InvalidKeyThrottle } from './invalid-key-throttle.ts'
import { KEY_AGE_MS } from './key-lookup.ts'
import { ratesFor } from './rates.ts'

/**
 * Returns a function that gives the principal of a caller who acts for a subaccount, and throws subaccountUnknown and
 * wrongKeysTooMany.
 */
export function createActingFor(
  sql: Sql,
  throttle: InvalidKeyThrottle,
): (principal: Principal, username: string) => Promise<Principal> {
  const subaccounts = createCache<Subaccount | null>({
    maxAge: KEY_AGE_MS,
    maxEntries: 10_000,
    load: (parentAndName) => {
      const [parentId, name] = JSON.parse(parentAndName) as [number, string]
      return selectSubaccount(sql, parentId, name)
    },
  })

  return async (principal, username) => {
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
}
