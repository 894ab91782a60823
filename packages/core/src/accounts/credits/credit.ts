/** Interval at which a recurring credit is renewed, counted from its first day. */
export type CreditPeriod = 'day' | 'week' | 'month'

/** Credit that is granted again in each period; unused credit expires at the end of the period. */
export interface RecurringCredit {
  readonly amount: number
  readonly every: CreditPeriod
  /** `yyyy-mm-dd`, UTC. */
  readonly from: string
  /** Last day, `yyyy-mm-dd`, UTC. */
  readonly until: string
  readonly active: boolean
}

/** How many more recipients an account may send to. One credit is one queued recipient. */
export interface Credit {
  /** False if the account is unlimited or uses its parent's credit. */
  readonly limited: boolean
  /** One-time and recurring credit together; null if unlimited. */
  readonly available: number | null
  readonly oneTime: number | null
  readonly recurring: (RecurringCredit & { readonly left: number }) | null
}

/** Credit of subaccounts of their own. */
export interface HeldCredit {
  /** The number of subaccounts with credit. */
  readonly subaccounts: number
  readonly available: number
}

export interface CreditUsage {
  readonly used: number
  /**
   * Current balance; null if the account has no limit of its own. The parent's balance is not shown to a subaccount.
   */
  readonly available: number | null
  /** The days of the page, `yyyy-mm-dd`, UTC. */
  readonly days: readonly { readonly date: string; readonly used: number }[]
  /** Number of days in the date range. */
  readonly total: number
}

/** A date range from the first to the last day, `yyyy-mm-dd`, and the page of days to list. */
export interface CreditSpan {
  readonly first: string
  readonly last: string
  readonly limit: number
  readonly offset: number
}

export const UNLIMITED: Credit = { limited: false, available: null, oneTime: null, recurring: null }

/** Maximum amount of one grant. */
export const MAX_CREDIT = 1_000_000_000_000
