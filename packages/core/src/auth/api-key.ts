import type { Account } from '../accounts/account.ts'

/** What a key allows; `all` allows everything. */
export type Scope = 'all' | 'send'
export const SCOPES: readonly Scope[] = ['all', 'send']

export interface ApiKey {
  readonly id: number
  readonly accountId: number
  readonly name: string
  readonly prefix: string
  readonly scopes: readonly Scope[]
  /** Networks the key may be used from; none: from anywhere. */
  readonly networks: readonly string[]
  readonly createdAt: Date
  readonly revokedAt: Date | null
}

/** Whoever showed a valid key. */
export interface Principal {
  readonly account: Account
  readonly keyId: number
  readonly scopes: readonly Scope[]
  /** The account's expiry is in the past, by the database's clock. */
  readonly expired: boolean
}
