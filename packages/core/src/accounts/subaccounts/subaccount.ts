import type { Credit } from '../credits/credit.ts'

/** An account under a parent account, identified by a user name. */
export interface Subaccount {
  /** The number of the account. */
  readonly id: number
  readonly username: string
  readonly email: string
  readonly creditType: CreditType
  /** Whether its keys are rejected. */
  readonly disabled: boolean
  readonly createdAt: Date
}

/** `unlimited`: no limit of its own; uses the parent's credit if the parent is limited. */
export type CreditType = 'unlimited' | 'one_time_credit'

/** A subaccount's credit, with its user name. */
export interface SubaccountCredit extends Credit {
  readonly username: string
}

/** A subaccount with its use in the last 30 days, its use per day, and when its own credit is used up at this pace (credits/outlook.ts). */
export interface SubaccountFigures extends Subaccount {
  readonly credit: Credit
  readonly used: number
  readonly perDay: number
  readonly runsOutAt: Date | null
}

export function creditTypeOf({ limited }: { limited: boolean }): CreditType {
  return limited ? 'one_time_credit' : 'unlimited'
}
