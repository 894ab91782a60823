import type { AnySql, SqlTransaction } from '../../platform/database/database.ts'
import type { JobFilter } from './job-filter.ts'

/** A position among finished deliveries, which are ordered by account, message and recipient number. */
export interface FinishedPosition {
  readonly accountId: number
  /** UUID. */
  readonly messageId: string
  readonly recipientNo: number
}

/** A delivery that bounced or expired. */
export interface FinishedDelivery extends FinishedPosition {
  readonly recipient: string
  readonly state: string
  /** Where the last attempt was made; null if that is unknown. */
  readonly place: string | null
  /** Null if it expired. */
  readonly bounceClass: string | null
}

export interface FinishedPage {
  readonly found: readonly FinishedDelivery[]
  /** Undefined if these are the last. */
  readonly next: FinishedPosition | undefined
}

/** Why a delivery of a page is left out, each with its words. */
export const LEFT_OUT = {
  suppressed: 'suppressed',
  indeterminate: 'may have been delivered',
  erased: 'recipient erased',
  'body-deleted': 'body no longer stored',
  'domain-lost': 'sending domain lost or rejected',
  erasing: 'recipients of the account are being erased',
  state: 'in the queue again',
} as const

export type LeftOut = keyof typeof LEFT_OUT

export interface EvaluatedPage {
  readonly wanted: readonly FinishedDelivery[]
  readonly leftOut: readonly LeftOut[]
}

/** Finished deliveries, and the rules by which they return to the queue. Implemented above this module (messages/requeue). */
export interface FinishedSource {
  /** Returns a page of those that meet the filter; `limit`: how many bounces and expiries are looked at. */
  find(sql: AnySql, filter: JobFilter, after: FinishedPosition, limit: number): Promise<FinishedPage>
  /** Returns which of them may be requeued, and why the others may not. */
  evaluate(sql: AnySql, found: readonly FinishedDelivery[]): Promise<EvaluatedPage>
  /** Requeues those that may be. Returns undefined if none can be now, because expired data is being deleted. */
  requeue(sql: SqlTransaction, found: readonly FinishedDelivery[]): Promise<readonly FinishedDelivery[] | undefined>
}

export const FIRST_POSITION: FinishedPosition = {
  accountId: 0,
  messageId: '00000000-0000-0000-0000-000000000000',
  recipientNo: -1,
}
