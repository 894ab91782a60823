import type { Credit } from '../credits/credit.ts'

/** An account under a parent account, identified by a user name. */
export interface Subaccount {
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

export function creditTypeOf({ limited }: { limited: boolean }): CreditType {
  return limited ? 'one_time_credit' : 'unlimited'
}
