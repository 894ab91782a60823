// Generated from the operations of the v2 API by `npm run docs`. Edit those, not this file.
import type { Call, CallOptions } from '../call.ts'

export interface GetCreditInput {
  /** yyyy-mm-dd, UTC */
  readonly startdate?: string | number | undefined
  /** yyyy-mm-dd, UTC */
  readonly enddate?: string | number | undefined
  /** yyyy-mm-dd, UTC */
  readonly startDate?: string | number | undefined
  /** yyyy-mm-dd, UTC */
  readonly endDate?: string | number | undefined
  /** yyyy-mm-dd, UTC */
  readonly start_date?: string | number | undefined
  /** yyyy-mm-dd, UTC */
  readonly end_date?: string | number | undefined
  /** number of days to list, at most 366 (default) */
  readonly limit?: number | string | null | undefined
  /** number of days to skip; default 0 */
  readonly offset?: number | string | null | undefined
}

export interface GetCreditData {
  readonly data: {
    readonly startdate: string
    readonly enddate: string
    /** recipients of messages accepted on these days */
    readonly used: number
    /** credits left now; null if the account has no limit of its own */
    readonly available: number | null
    /** sum of used and available */
    readonly total: number | null
    readonly usage: readonly {
      readonly date: string
      readonly used: number
    }[]
  }
  /** days in the date range */
  readonly totalRecords: number
}

export class Credits {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Show the credits used per day and those left. Needs the scope credits. */
  get(input: GetCreditInput = {}, options?: CallOptions): Promise<GetCreditData> {
    return this.#call({ method: 'GET', path: '/credit', gives: 'whole' }, input, options)
  }
}
