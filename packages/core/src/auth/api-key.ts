import type { Account } from '../accounts/account.ts'

/** What a key allows, an operation group each; `all` allows everything. */
export const SCOPES = [
  ...([
    'all',
    'send',
    'domains',
    'templates',
    'attachments',
    'suppressions',
    'credits',
    'subaccounts',
    'keys',
  ] as const),
  ...(['privacy', 'audit'] as const),
] as const
export type Scope = (typeof SCOPES)[number]

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
