import type { Actor } from '../accounts/audit/index.ts'

/** Why no mail is sent; `global` is an entry of the operator. */
export const SUPPRESSION_REASONS = ['unsubscribe', 'hardbounce', 'abuse', 'manual', 'global'] as const
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number]
/** Reasons that accounts may use for their own entries. */
export const ACCOUNT_REASONS = ['unsubscribe', 'hardbounce', 'abuse', 'manual'] as const

/** Whether a list of these reasons has the unsubscribes that are remembered with complaints, and not the complaints. */
export function leavesComplaints(reasons: readonly SuppressionReason[] | undefined): boolean {
  return reasons?.includes('unsubscribe') === true && !reasons.includes('abuse')
}

export type SuppressionScope = 'address' | 'domain' | 'group'

/** Account number of the operator's entries, which apply to all accounts. */
export const EVERY_ACCOUNT = 0

/** The rules that add entries. `unsubscribe` is a link or a click, `opt-out` a report. */
export const SUPPRESSION_RULES = ['hard-bounce', 'soft-bounces', 'complaint', 'opt-out', 'unsubscribe'] as const
export type SuppressionRule = (typeof SUPPRESSION_RULES)[number]

/** The fact that made an entry, at its time `since`. */
export interface SuppressionCause {
  readonly rule: SuppressionRule
  /** The bounce class, the last one of several soft bounces; or the type of a complaint; null for other rules. */
  readonly class: string | null
  /** 32 hex digits. The delivery may be deleted meanwhile. */
  readonly messageId: string
  readonly recipientNo: number
  /** The id of the report that came back; null if there is none. It may be deleted meanwhile. */
  readonly returnId: string | null
}

/** An entry that prevents mail to an address or domain. */
export interface Suppression {
  readonly scope: SuppressionScope
  /** An address in its canonical lower-case form, or a lower-case A-label. */
  readonly value: string
  /** The unsubscribe group of scope `group`; 0 for the others. */
  readonly group: number
  readonly reason: SuppressionReason
  readonly since: Date
  /** Null if an account or the operator added it, or if that is not known. */
  readonly cause: SuppressionCause | null
}

/** An entry that applies to an address, and whether it is the operator's. */
export interface MatchingSuppression extends Suppression {
  /** Whether it is the operator's entry, which the account cannot remove. */
  readonly global: boolean
  /** Whether it is a complaint of a recipient who is unsubscribed, too. */
  readonly unsubscribed: boolean
}

/** The parameters of `add`. */
export interface NewSuppression {
  readonly accountId: number
  readonly scope: Exclude<SuppressionScope, 'group'>
  readonly value: string
  readonly reason: SuppressionReason
  readonly by?: Actor
}

/** Addresses and domains to change, as written by the caller. */
export interface SuppressionChange {
  /** An account, or {@link EVERY_ACCOUNT}. */
  readonly accountId: number
  readonly emails?: readonly string[]
  readonly domains?: readonly string[]
  /** If set, the entries apply only to messages of this unsubscribe group; addresses only. */
  readonly group?: number
  /** Reason of new entries. Default manual. */
  readonly reason?: SuppressionReason
  /** Default: the operator. */
  readonly by?: Actor
}

/** Entries to remove. */
export interface SuppressionRemoval extends Omit<SuppressionChange, 'reason'> {
  /** If set, entries with another reason stay, also those that get it at the same time. */
  readonly reasons?: readonly SuppressionReason[]
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
  /** Number of matching entries, counted up to {@link COUNTED}. */
  readonly total: number
}

/**
 * Lists are counted, and paged by offset, up to this number: no one pages further manually, and counting more would be
 * wasted work.
 */
export const COUNTED = 100_000
