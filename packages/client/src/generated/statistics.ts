// Generated from the operations of the v2 API by `npm run docs`. Edit those, not this file.
import type { Call, CallOptions } from '../call.ts'

export interface Statistic {
  readonly jobId: string
  readonly status: 'queued' | 'running' | 'done' | 'failed'
  readonly format: 'json' | 'csv'
  readonly startdate: string
  readonly enddate: string
  readonly events: readonly string[]
  /** number of events in the file so far */
  readonly rows: number
  readonly created: string
  readonly finished: string | null
  /** time at which the job and its file are deleted */
  readonly expires: string | null
  /** download link, valid for anyone who has it */
  readonly url: string | null
  /** reason of the failure */
  readonly problem: string | null
}

export interface GetStatsInput {
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
  /** group by `domain`, `site` (recipient domain) or `subaccount` */
  readonly by?: string | undefined
  /** only this sending domain */
  readonly domain?: string | undefined
  /** only this recipient domain */
  readonly site?: string | undefined
  /** only this subaccount, by user name */
  readonly subaccount?: string | undefined
}

export interface GetStatsData {
  readonly data: readonly {
    /** first day of the period within the date range */
    readonly date: string
    readonly stats: readonly {
      readonly name?: string | undefined
      readonly metrics: {
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
      /** seconds from due time to delivery; null if nothing was delivered */
      readonly deliveryTime?:
        | {
            readonly p50: number
            readonly p90: number
            readonly p99: number
          }
        | null
        | undefined
      /** total of all names without a row of their own */
      readonly other?: true | undefined
    }[]
  }[]
  /** total number of rows */
  readonly totalRecords: number
  /** number and time of the account's last counted event; all earlier events are counted, no later ones are */
  readonly asOf: {
    readonly event: number
    readonly time: string | null
  }
}

export interface CreateExportInput {
  /** yyyy-mm-dd, inclusive, in the account's time zone */
  readonly startdate?: string | null | undefined
  /** yyyy-mm-dd, inclusive; default today */
  readonly enddate?: string | null | undefined
  /**
   * sent, open, click, unsubscribe, bounce, softbounce, hardbounce, spam, invalid, dropped, processed, deferred; a list or comma-separated;
   * default all except deferred
   */
  readonly events?: string | readonly string[] | null | undefined
  /** checked immediately by HEAD, or else POST, and must return 2xx */
  readonly callbackUrl?: string | null | undefined
  /** address to notify, from an active sending domain of the account */
  readonly email?: string | null | undefined
  /** default json, with one object per line */
  readonly format?: 'json' | 'csv' | '' | null | undefined
}

export type CreateExportData = {
  readonly jobId: string
  readonly status: 'queued' | 'running' | 'done' | 'failed'
}

export interface StreamEventsInput {
  /** yyyy-mm-dd, inclusive, in the account's time zone */
  readonly startdate?: string | null | undefined
  /** yyyy-mm-dd, inclusive; default today */
  readonly enddate?: string | null | undefined
  /**
   * sent, open, click, unsubscribe, bounce, softbounce, hardbounce, spam, invalid, dropped, processed, deferred; a list or comma-separated;
   * default all except deferred
   */
  readonly events?: string | readonly string[] | null | undefined
}

export interface ListExportsInput {
  /** at most 100 (default) */
  readonly limit?: number | string | null | undefined
  /** exports requested before this one */
  readonly before?: string | undefined
}

export type ListExportsData = readonly Statistic[]

export interface ShowExportInput {
  readonly jobId: string
}

export type ShowExportData = Statistic

export interface DeleteExportInput {
  readonly jobId: string
}

export type DeleteExportData = {
  readonly jobId: string
}

export interface DownloadExportInput {
  readonly jobId: string
}

export class Statistics {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Show statistics per day, week or month. Needs the scope stats. */
  get(input: GetStatsInput = {}, options?: CallOptions): Promise<GetStatsData> {
    return this.#call({ method: 'GET', path: '/stats', gives: 'whole' }, input, options)
  }

  /** Export the events of a date range to a file. Completion is reported to a callback URL or by email. Needs the scope events. */
  createExport(input: CreateExportInput = {}, options?: CallOptions): Promise<CreateExportData> {
    return this.#call({ method: 'POST', path: '/stats/export' }, input, options)
  }

  /** Download the events of a date range, one JSON object per line. Needs the scope events. */
  streamEvents(input: StreamEventsInput = {}, options?: CallOptions): Promise<ReadableStream<Uint8Array>> {
    return this.#call({ method: 'GET', path: '/stats/export', gives: 'stream' }, input, options)
  }

  /** List the exports, latest first. Needs the scope events. */
  listExports(input: ListExportsInput = {}, options?: CallOptions): Promise<ListExportsData> {
    return this.#call({ method: 'GET', path: '/stats/exports' }, input, options)
  }

  /** Show the status of an export and the link to its file. Needs the scope events. */
  showExport(input: ShowExportInput, options?: CallOptions): Promise<ShowExportData> {
    return this.#call({ method: 'GET', path: '/stats/export/:jobId' }, input, options)
  }

  /** Delete an export that is still queued. Needs the scope events. */
  deleteExport(input: DeleteExportInput, options?: CallOptions): Promise<DeleteExportData> {
    return this.#call({ method: 'DELETE', path: '/stats/export/:jobId' }, input, options)
  }

  /** Download the file of a finished export. Needs the scope events. */
  downloadExport(input: DownloadExportInput, options?: CallOptions): Promise<ReadableStream<Uint8Array>> {
    return this.#call({ method: 'GET', path: '/stats/export/:jobId/file', gives: 'stream' }, input, options)
  }
}
