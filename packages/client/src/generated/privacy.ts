// Generated from the operations of the v2 API by `npm run docs`. Edit those, not this file.
import type { Call, CallOptions } from '../call.ts'

export interface PrivacyShown {
  /** `gd_` and 32 hex digits */
  readonly requestId: string
  readonly status: 'queued' | 'running' | 'done'
  readonly emails: number
  readonly requestedTime: string
  readonly completedTime?: string | undefined
  /** messages shared with other recipients whose deliveries are not finished */
  readonly waiting: number
  /** numbers of rows changed */
  readonly receipt: Receipt
}

export interface Receipt {
  /** queued deliveries that were cancelled */
  readonly cancelled: number
  readonly deliveries: number
  readonly attempts: number
  readonly events: number
  readonly messages: number
  readonly bodies: number
  /** addresses that remain suppressed as a keyed hash */
  readonly suppressions: number
}

export interface ForgetPersonInput {
  /** up to 1,000 addresses, as a list or comma-separated */
  readonly email: string | readonly string[]
}

export type ForgetPersonData = {
  /** `gd_` and 32 hex digits */
  readonly requestId: string
  readonly status: 'queued' | 'running' | 'done'
  readonly emails: number
}

export interface ShowForgetRequestInput {
  /** `gd_` and 32 hex digits */
  readonly requestId: string
}

export type ShowForgetRequestData = PrivacyShown

export interface ListForgetRequestsInput {
  /** requests per page, at most 100; default 50 */
  readonly limit?: number | string | null | undefined
  /** number of rows to skip; default 0 */
  readonly offset?: number | string | null | undefined
}

export type ListForgetRequestsData = readonly PrivacyShown[]

export interface ExportPersonInput {
  readonly email: string
  /** deliveries per page, at most 100; default 50 */
  readonly limit?: number | string | null | undefined
  /** `next` of the previous page */
  readonly next?: string | undefined
}

export type ExportPersonData = {
  readonly email: string
  readonly logs: readonly {
    readonly trid: number
    readonly messageId: string
    readonly rcptEmail: string
    /** to, cc or bcc */
    readonly rcptType: string
    readonly fromaddress: string
    readonly requestedTime: string
    readonly scheduledTime?: string | undefined
    readonly deliveryTime?: string | undefined
    readonly modifiedTime?: string | undefined
    /** scheduled, queued, sending, deferred, delivered, bounced, dropped or expired */
    readonly status: string
    readonly reason?: string | undefined
    readonly size: number
    /** the last reply */
    readonly remarks: string
    readonly subject: string
    readonly xapiheader: string
    readonly tags: string
    readonly clientIp?: string | undefined
    /** address lists, attributes and header fields of this recipient */
    readonly personal?: unknown | undefined
    readonly attempts: readonly Readonly<Record<string, unknown>>[]
    readonly events: readonly Readonly<Record<string, unknown>>[]
  }[]
  readonly suppression: readonly {
    readonly email: string
    readonly type: 'email' | 'group'
    readonly group?: number | undefined
    readonly reason: string
    readonly addedTime: string
    /** stored as a keyed hash, since the recipient was erased */
    readonly hashed: boolean
    /** what made the entry; absent if it was added by a call */
    readonly cause?:
      | {
          readonly rule: 'hard-bounce' | 'soft-bounces' | 'complaint' | 'opt-out' | 'unsubscribe'
          /** the bounce class, or the type of the complaint */
          readonly class?: string | undefined
          readonly messageId: string
        }
      | undefined
  }[]
  readonly webhookEvents: number
  /** cursor of the next page; absent on the last page */
  readonly next?: string | undefined
}

export class Privacy {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Erase recipients from stored data; their opt-outs stay in effect. Needs the scope privacy. */
  forgetPerson(input: ForgetPersonInput, options?: CallOptions): Promise<ForgetPersonData> {
    return this.#call({ method: 'POST', path: '/gdpr/forget' }, input, options)
  }

  /** Show the progress of an erasure request and the rows changed. Needs the scope privacy. */
  showForgetRequest(input: ShowForgetRequestInput, options?: CallOptions): Promise<ShowForgetRequestData> {
    return this.#call({ method: 'GET', path: '/gdpr/forget/:requestId' }, input, options)
  }

  /** List the erasure requests, newest first, with their progress. Needs the scope privacy. */
  listForgetRequests(input: ListForgetRequestsInput = {}, options?: CallOptions): Promise<ListForgetRequestsData> {
    return this.#call({ method: 'GET', path: '/gdpr/forget' }, input, options)
  }

  /** Export the data stored about one recipient, page by page. Needs the scope privacy. */
  exportPerson(input: ExportPersonInput, options?: CallOptions): Promise<ExportPersonData> {
    return this.#call({ method: 'POST', path: '/gdpr/export' }, input, options)
  }
}
