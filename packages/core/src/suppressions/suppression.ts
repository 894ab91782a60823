import type { Actor } from '../accounts/audit/index.ts'

/** Why nothing is sent; `global` is the operator's word. */
export const SUPPRESSION_REASONS = ['unsubscribe', 'hardbounce', 'abuse', 'manual', 'global'] as const
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number]
/** Reasons an account may give for its own entries. */
export const ACCOUNT_REASONS = ['unsubscribe', 'hardbounce', 'abuse', 'manual'] as const

export type SuppressionScope = 'address' | 'domain' | 'group'

/** In place of an account's number: the operator's entries, which hold for all accounts. */
export const EVERY_ACCOUNT = 0

/** Do not send, with reason and since. */
export interface Suppression {
  readonly scope: SuppressionScope
  /** An address in its canonical lower-case form, or a lower-case A-label. */
  readonly value: string
  /** The unsubscribe group of scope `group`; 0 for the others. */
  readonly group: number
  readonly reason: SuppressionReason
  readonly since: Date
}

/** One that holds an address, and whose it is. */
export interface HoldingSuppression extends Suppression {
  /** The operator's: the account can't lift it. */
  readonly global: boolean
}

/** One entry, as `add` takes it. */
export interface NewSuppression {
  readonly accountId: number
  readonly scope: Exclude<SuppressionScope, 'group'>
  readonly value: string
  readonly reason: SuppressionReason
  readonly by?: Actor
}

/** What a call names: addresses and domains as the caller wrote them. */
export interface SuppressionChange {
  /** Or {@link EVERY_ACCOUNT}. */
  readonly accountId: number
  readonly emails?: readonly string[]
  readonly domains?: readonly string[]
  /** Only for messages of this unsubscribe group; addresses only. */
  readonly group?: number
  /** Of entries that are new. Default manual. */
  readonly reason?: SuppressionReason
  /** Default the operator. */
  readonly by?: Actor
}

export interface SuppressionFilter {
  readonly emails?: readonly string[]
  readonly domains?: readonly string[]
  readonly group?: number
  readonly reason?: SuppressionReason
  readonly limit: number
  readonly offset: number
}

export interface SuppressionPage {
  readonly suppressions: readonly Suppression[]
  /** How many fit the filter, counted up to {@link COUNTED}. */
  readonly total: number
}

/** A list is counted, and read by offset, up to here: nobody pages further by hand, and everything beyond is work for nothing. */
export const COUNTED = 100_000
