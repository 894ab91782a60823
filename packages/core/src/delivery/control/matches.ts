import type { LeftOut } from './finished.ts'

/** The deliveries that a job would change now, as counts. */
export interface Matches {
  readonly count: number
  /** Whether there may be more: what is read is bounded. */
  readonly partial: boolean
  /**
   * The ten largest of each. A destination is null for mail that is not parked; for requeue it is where the last attempt was made, and null if that
   * is unknown.
   */
  readonly byPlace: readonly { readonly place: string | null; readonly count: number }[]
  readonly byAccount: readonly { readonly accountId: number; readonly count: number }[]
  readonly sample: readonly {
    /** 32 hex digits. */
    readonly messageId: string
    readonly recipientNo: number
    readonly accountId: number
    readonly recipient: string
    readonly state: string
  }[]
  /** For requeue: by the class of the bounce; null for what expired. */
  readonly byBounceClass?: readonly { readonly bounceClass: string | null; readonly count: number }[]
  /** For requeue: how many of those found are left out, by reason. */
  readonly leftOut?: Readonly<Partial<Record<LeftOut, number>>>
}

/** Maximum number of destinations, accounts and classes in a plan, and of deliveries. */
export const MAX_SHOWN = 10
export const SAMPLE = 5
