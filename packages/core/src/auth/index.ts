import type { Account } from '../accounts/account.ts'
import { createCache } from '../cache.ts'
import { databaseErrorCode, type Sql } from '../database.ts'
import { invalidParameter, ServiceError } from '../errors.ts'
import { NetworkList, parseNetworks } from '../networks.ts'
import { type ApiKey, type Principal, SCOPES, type Scope } from './api-key.ts'
import { apiKeyPrefix, hashApiKey, looksLikeApiKey, makeApiKey } from './key-format.ts'
import {
  insertApiKey,
  type KeyHolder,
  revokeApiKey,
  selectApiKeys,
  selectKeyHolder,
  selectSubaccount,
} from './store.ts'

export type { ApiKey, Principal, Scope } from './api-key.ts'

/** A revoked key must be refused within 5 s in every process; answers are kept for less than that. */
const KEY_AGE_MS = 3000

export interface NewKey {
  readonly accountId: number
  readonly name?: string
  readonly scopes?: readonly string[]
  /** Addresses or networks the key may be used from; none: from anywhere. */
  readonly networks?: readonly string[]
}

export interface Auth {
  /** Makes a key and answers it once: it is stored hashed. Throws parameterInvalid (account, scopes, networks). */
  createKey(key: NewKey): Promise<{ key: ApiKey; secret: string }>
  listKeys(accountId: number): Promise<ApiKey[]>
  /** Every process refuses the key at most 5 s later. Throws parameterInvalid for an unknown key. */
  revokeKey(id: number): Promise<ApiKey>
  /**
   * Who shows this key from this address? Throws keyMissing, keyInvalid, addressNotAllowed, in this order (contract section 3),
   * and accountSuspended for a subaccount that its parent has disabled. Whether the account may send is judged later, by the
   * message rules.
   *
   * `onBehalfOf`: the user name of a subaccount the caller acts for. Throws subaccountUnknown.
   */
  authenticate(secret: string | undefined, address: string, onBehalfOf?: string): Promise<Principal>
}

interface Holder extends KeyHolder {
  readonly networkList: NetworkList
}

export function authOf(sql: Sql): Auth {
  const holders = createCache<Holder | null>({
    maxAge: KEY_AGE_MS,
    maxEntries: 10_000,
    load: async (hash) => {
      const holder = await selectKeyHolder(sql, Buffer.from(hash, 'hex'))
      return holder && { ...holder, networkList: new NetworkList(holder.networks) }
    },
  })

  const subaccounts = createCache<{ account: Account; expired: boolean } | null>({
    maxAge: KEY_AGE_MS,
    maxEntries: 10_000,
    load: (parentAndName) => {
      const [parentId, name] = JSON.parse(parentAndName) as [number, string]
      return selectSubaccount(sql, parentId, name)
    },
  })

  return {
    async createKey({ accountId, name = '', scopes = ['all'], networks = [] }) {
      const secret = makeApiKey()
      try {
        const key = await insertApiKey(sql, {
          accountId,
          name,
          prefix: apiKeyPrefix(secret),
          hash: hashApiKey(secret),
          scopes: knownScopes(scopes),
          networks: knownNetworks(networks),
        })
        return { key, secret }
      } catch (error) {
        if (databaseErrorCode(error) === '23503') throw invalidParameter('account', 'there is no such account')
        throw error
      }
    },

    listKeys: (accountId) => selectApiKeys(sql, accountId),

    async revokeKey(id) {
      const key = await revokeApiKey(sql, id)
      if (!key) throw invalidParameter('key', 'there is no such key')
      return key
    },

    async authenticate(secret, address, onBehalfOf) {
      if (!secret) throw new ServiceError('keyMissing')
      if (!looksLikeApiKey(secret)) throw new ServiceError('keyInvalid', { reason: 'not the form of a key' })
      const holder = await holders.get(hashApiKey(secret).toString('hex'))
      if (!holder) throw new ServiceError('keyInvalid', { reason: 'unknown or revoked' })
      if (!holder.networkList.empty && !holder.networkList.has(address)) {
        throw new ServiceError('addressNotAllowed', { reason: `key ${holder.keyId}` })
      }
      if (holder.disabled) throw new ServiceError('accountSuspended', { reason: `subaccount of key ${holder.keyId}` })
      const { account, keyId, scopes, expired } = holder
      if (!onBehalfOf) return { account, keyId, scopes, expired }
      const subaccount = await subaccounts.get(JSON.stringify([account.id, onBehalfOf.trim().toLowerCase()]))
      if (!subaccount) throw new ServiceError('subaccountUnknown')
      // A parent that is suspended or past its expiry can't send under another name.
      const state = account.state === 'active' ? subaccount.account.state : account.state
      return { keyId, scopes, account: { ...subaccount.account, state }, expired: expired || subaccount.expired }
    },
  }
}

/** Throws scopeMissing unless the principal's key allows this. */
export function requireScope(principal: Principal, scope: Exclude<Scope, 'all'>): void {
  if (!principal.scopes.includes('all') && !principal.scopes.includes(scope)) {
    throw new ServiceError('scopeMissing', { reason: `key ${principal.keyId} lacks ${scope}` })
  }
}

function knownScopes(scopes: readonly string[]): Scope[] {
  for (const scope of scopes) {
    if (!SCOPES.includes(scope as Scope)) throw invalidParameter('scopes', `it may contain ${SCOPES.join(', ')}`)
  }
  return scopes as Scope[]
}

function knownNetworks(networks: readonly string[]): string[] {
  try {
    return parseNetworks(networks)
  } catch (error) {
    throw invalidParameter('ip', (error as Error).message)
  }
}
