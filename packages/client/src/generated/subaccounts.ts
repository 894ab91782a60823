// Generated from the operations of the v2 API by `npm run docs`. Edit those, not this file.
import type { Call, CallOptions } from '../call.ts'

export interface Subaccount {
  readonly username: string
  readonly email: string
  /** unlimited or one_time_credit */
  readonly credit_type: string
  readonly disabled: boolean
}

export interface SubaccountShown {
  readonly username: string
  /** unlimited or one_time_credit */
  readonly credit_type: string
  readonly available: number | null
  readonly one_time_credit: number | null
  readonly recurring_credit: null | Recurring_credit
}

export interface Recurring_credit {
  readonly amount: number
  /** left in the current period */
  readonly left: number
  readonly timeperiod: string
  readonly start_date: string
  readonly end_date: string
  readonly status: string
}

export interface CreateSubaccountInput {
  /** 3 to 64 letters, digits, dots, dashes and underscores */
  readonly username: string
  readonly email: string
  /** 1: set a password; 0: no password */
  readonly setpassword: string | number
  /** at least 8 characters, including an upper-case letter, a lower-case letter and a digit */
  readonly password?: string | undefined
  /** unlimited or one_time_credit */
  readonly credit_type?: string | undefined
}

export type CreateSubaccountData = {
  readonly username: string
  readonly email: string
  /** unlimited or one_time_credit */
  readonly credit_type: string
  readonly disabled: boolean
  readonly api_key: string
}

export interface UpdateSubaccountInput {
  readonly username: string
  readonly new_email?: string | undefined
  readonly new_password?: string | undefined
  /** repeat new_password */
  readonly confirm_password?: string | undefined
  /** unlimited or one_time_credit */
  readonly credit_type?: string | undefined
}

export type UpdateSubaccountData = Subaccount

export interface SetSubaccountStateInput {
  readonly username: string
  readonly disabled: boolean
}

export type SetSubaccountStateData = Subaccount

export interface DeleteSubaccountInput {
  readonly username: string
}

export type DeleteSubaccountData = {
  /** 0 if the account has no limit of its own */
  readonly returned_credit: number
}

export interface ListSubaccountsInput {
  /** at most 1000; default 100 */
  readonly limit?: number | string | null | undefined
  /** number of rows to skip; default 0 */
  readonly offset?: number | string | null | undefined
  /** only the subaccount of this name */
  readonly username?: string | undefined
}

export type ListSubaccountsData = readonly Subaccount[]

export interface SetSubaccountCreditInput {
  readonly username: string
  /** increase or decrease */
  readonly action: string
  /** a whole number of recipients */
  readonly amount: number | string
}

export type SetSubaccountCreditData = SubaccountShown

export interface SetRecurringCreditInput {
  readonly username: string
  /** a whole number of recipients */
  readonly recurring_credit: number | string
  /** daily, weekly, monthly or monhtly */
  readonly timeperiod: string
  /** yyyy-mm-dd, UTC */
  readonly start_date: string | number
  /** yyyy-mm-dd, UTC */
  readonly end_date: string | number
  /** active or inactive */
  readonly status?: string | undefined
}

export type SetRecurringCreditData = SubaccountShown

export interface GetSubaccountCreditInput {
  readonly username: string
}

export type GetSubaccountCreditData = SubaccountShown

export class Subaccounts {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Create a subaccount. Its API key is shown once. Needs the scope subaccounts. */
  create(input: CreateSubaccountInput, options?: CallOptions): Promise<CreateSubaccountData> {
    return this.#call({ method: 'POST', path: '/subaccounts/createSubaccount' }, input, options)
  }

  /** Change a subaccount's email, password or credit type. Needs the scope subaccounts. */
  update(input: UpdateSubaccountInput, options?: CallOptions): Promise<UpdateSubaccountData> {
    return this.#call({ method: 'POST', path: '/subaccounts/updateSubaccount' }, input, options)
  }

  /** Disable or enable a subaccount. Takes effect within 5 seconds. Needs the scope subaccounts. */
  setState(input: SetSubaccountStateInput, options?: CallOptions): Promise<SetSubaccountStateData> {
    return this.#call({ method: 'PATCH', path: '/subaccounts' }, input, options)
  }

  /** Delete a subaccount. Its remaining credit is returned to the account. Needs the scope subaccounts. */
  delete(input: DeleteSubaccountInput, options?: CallOptions): Promise<DeleteSubaccountData> {
    return this.#call({ method: 'DELETE', path: '/subaccounts/delete' }, input, options)
  }

  /** List the subaccounts by name. Needs the scope subaccounts. */
  list(input: ListSubaccountsInput = {}, options?: CallOptions): Promise<ListSubaccountsData> {
    return this.#call({ method: 'GET', path: '/subaccounts/getSubAccounts' }, input, options)
  }

  /** Increase or decrease a subaccount's credit. Needs the scope subaccounts. */
  setCredit(input: SetSubaccountCreditInput, options?: CallOptions): Promise<SetSubaccountCreditData> {
    return this.#call({ method: 'POST', path: '/subaccounts/setsubaccountcredit' }, input, options)
  }

  /** Set a subaccount's credit per period. Needs the scope subaccounts. */
  setRecurringCredit(input: SetRecurringCreditInput, options?: CallOptions): Promise<SetRecurringCreditData> {
    return this.#call({ method: 'POST', path: '/setrecurringcreditddetails' }, input, options)
  }

  /** Show a subaccount's remaining credit. Needs the scope subaccounts. */
  getCredit(input: GetSubaccountCreditInput, options?: CallOptions): Promise<GetSubaccountCreditData> {
    return this.#call({ method: 'GET', path: '/subaccounts/getcreditddetails' }, input, options)
  }
}
