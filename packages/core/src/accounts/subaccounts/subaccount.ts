import type { Credit } from '../credits/credit.ts'

/** An account under another, known to it by a user name. */
export interface Subaccount {
  readonly username: string
  readonly email: string
  readonly creditType: CreditType
  /** Its keys are refused. */
  readonly disabled: boolean
  readonly createdAt: Date
}

/** Without a limit of its own it draws on its parent's credit, where that has one. */
export type CreditType = 'unlimited' | 'one_time_credit'

/** A subaccount's credit, with its name. */
export interface SubaccountCredit extends Credit {
  readonly username: string
}

export function creditTypeOf({ limited }: { limited: boolean }): CreditType {
  return limited ? 'one_time_credit' : 'unlimited'
}
