// Generated from the operations of the v2 API by `npm run docs`. Edit those, not this file.
import type { Call, CallOptions } from '../call.ts'

export interface Stats {
  readonly tag_name: string
  readonly metrics: Metrics
  /** seconds from due time to delivery; null if nothing was delivered */
  readonly deliveryTime?: DeliveryTime | null | undefined
  /** total of all names without a row of their own */
  readonly other?: true | undefined
}

export interface Metrics {
  readonly sent: number
  readonly bounce: number
  readonly soft_bounce: number
  readonly hard_bounce: number
  readonly open: number
  readonly unique_open: number
  readonly click: number
  readonly unsub: number
  readonly spam: number
  readonly dropped: number
  readonly invalid: number
  readonly processed?: number | undefined
  readonly deferred?: number | undefined
  readonly expired?: number | undefined
  readonly unique_click?: number | undefined
  /** opens by link scanners and image proxies, not included in `open` */
  readonly machine_open?: number | undefined
  readonly machine_click?: number | undefined
}

export interface DeliveryTime {
  readonly p50: number
  readonly p90: number
  readonly p99: number
}

export interface ListTagsInput {
  /** at most 1000; default 100 */
  readonly limit?: number | string | null | undefined
  /** number of rows to skip; default 0 */
  readonly offset?: number | string | null | undefined
  /** only tags with this prefix */
  readonly tag?: string | undefined
}

export type ListTagsData = readonly {
  readonly tag_name: string
  readonly createdTime: string
}[]

export interface GetTagStatsInput {
  /** yyyy-mm-dd in the account's time zone */
  readonly startdate?: string | number | undefined
  /** yyyy-mm-dd in the account's time zone */
  readonly enddate?: string | number | undefined
  /** yyyy-mm-dd in the account's time zone */
  readonly startDate?: string | number | undefined
  /** yyyy-mm-dd in the account's time zone */
  readonly endDate?: string | number | undefined
  /** yyyy-mm-dd in the account's time zone */
  readonly start_date?: string | number | undefined
  /** yyyy-mm-dd in the account's time zone */
  readonly end_date?: string | number | undefined
  /** at most 100 (default) */
  readonly limit?: number | string | null | undefined
  /** number of the first row, from 1; 0 counts as 1 */
  readonly offset?: number | string | null | undefined
  /** `all` adds further metrics and delivery times */
  readonly metrics?: string | undefined
  /** `day` (the default), `week` or `month` */
  readonly aggregated_by?: string | undefined
  /** only this tag; if absent, statistics per tag */
  readonly tag?: string | undefined
}

export interface GetTagStatsData {
  readonly data: readonly {
    readonly date: string
    readonly stats: readonly Stats[]
  }[]
  /** total number of rows */
  readonly totalRecords: number
  /** number and time of the account's last counted event; all earlier events are counted, no later ones are */
  readonly asOf: {
    readonly event: number
    readonly time: string | null
  }
}

export interface GetTagSumsInput {
  /** yyyy-mm-dd in the account's time zone */
  readonly startdate?: string | number | undefined
  /** yyyy-mm-dd in the account's time zone */
  readonly enddate?: string | number | undefined
  /** yyyy-mm-dd in the account's time zone */
  readonly startDate?: string | number | undefined
  /** yyyy-mm-dd in the account's time zone */
  readonly endDate?: string | number | undefined
  /** yyyy-mm-dd in the account's time zone */
  readonly start_date?: string | number | undefined
  /** yyyy-mm-dd in the account's time zone */
  readonly end_date?: string | number | undefined
  /** at most 100 (default) */
  readonly limit?: number | string | null | undefined
  /** number of the first row, from 1; 0 counts as 1 */
  readonly offset?: number | string | null | undefined
  /** `all` adds further metrics and delivery times */
  readonly metrics?: string | undefined
  /** only this tag; if absent, statistics per tag */
  readonly tag?: string | undefined
}

export interface GetTagSumsData {
  readonly data: {
    readonly startdate: string
    readonly enddate: string
    readonly stats: readonly Stats[]
  }
  /** total number of rows */
  readonly totalRecords: number
  /** number and time of the account's last counted event; all earlier events are counted, no later ones are */
  readonly asOf: {
    readonly event: number
    readonly time: string | null
  }
}

export class Tags {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** List the tags used in messages. Needs the scope stats. */
  list(input: ListTagsInput = {}, options?: CallOptions): Promise<ListTagsData> {
    return this.#call({ method: 'GET', path: '/tags' }, input, options)
  }

  /** Show statistics of tags per day, week or month. Needs the scope stats. */
  getStats(input: GetTagStatsInput = {}, options?: CallOptions): Promise<GetTagStatsData> {
    return this.#call({ method: 'GET', path: '/tags/stats', gives: 'whole' }, input, options)
  }

  /** Show statistics per tag over a date range, most used tags first. Needs the scope stats. */
  getSums(input: GetTagSumsInput = {}, options?: CallOptions): Promise<GetTagSumsData> {
    return this.#call({ method: 'GET', path: '/tags/stats/sums', gives: 'whole' }, input, options)
  }
}
