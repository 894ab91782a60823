/** How often a recurring credit is set anew; counted from its first day. */
export type CreditPeriod = 'day' | 'week' | 'month'

/** So much more in each period; what is left of it at the end of one is gone. */
export interface RecurringCredit {
  readonly amount: number
  readonly every: CreditPeriod
  /** `yyyy-mm-dd`, UTC. */
  readonly from: string
  /** The last day. */
  readonly until: string
  readonly active: boolean
}

/** What an account may still send. One credit is one recipient that is queued. */
export interface Credit {
  /** False: it may send without end, or draws on its parent's. */
  readonly limited: boolean
  /** One-time and recurring together; null without a limit. */
  readonly available: number | null
  readonly oneTime: number | null
  readonly recurring: (RecurringCredit & { readonly left: number }) | null
}

export interface CreditUsage {
  readonly used: number
  /** What is left now; null: it has no limit of its own. What its parent has left is not for a subaccount to see. */
  readonly available: number | null
  /** Each day of the page, `yyyy-mm-dd`, UTC. */
  readonly days: readonly { readonly date: string; readonly used: number }[]
  /** Days of the span. */
  readonly total: number
}

/** Days from the first to the last, `yyyy-mm-dd`, and the page of them that is shown apart. */
export interface CreditSpan {
  readonly first: string
  readonly last: string
  readonly limit: number
  readonly offset: number
}

export const UNLIMITED: Credit = { limited: false, available: null, oneTime: null, recurring: null }

/** The most that can be given in one go. */
export const MOST_CREDIT = 1_000_000_000_000
