// Generated from the operations of the v2 API by `npm run docs`. Edit those, not this file.
import type { Call, CallOptions } from '../call.ts'

export interface ListEventsInput {
  /** required; yyyy-mm-dd, first day in the account's time zone */
  readonly startdate?: string | number | null | undefined
  /** yyyy-mm-dd, last day; default today */
  readonly enddate?: string | number | null | undefined
  /**
   * deliveries with at least one of these events, comma-separated: processed, sent, opened, clicked, unsubscribed, bounced, softbounce,
   * hardbounce, spam, invalid, dropped, total_requested, total_delivered, total_opened, total_clicked
   */
  readonly events?: string | readonly string[] | null | undefined
  /** asc (default) or desc, by time of acceptance */
  readonly sort?: string | number | null | undefined
  /** number of rows; default 10, at most 1000, or 5000 with scrollid */
  readonly limit?: number | string | null | undefined
  /** number of rows to skip, at most 10000 */
  readonly offset?: number | string | null | undefined
  /** the recipient */
  readonly email?: string | number | null | undefined
  /** the sender */
  readonly fromaddress?: string | number | null | undefined
  /** alias of fromaddress */
  readonly fromemail?: string | number | null | undefined
  /** the exact subject as submitted */
  readonly subject?: string | number | null | undefined
  /** the caller's exact X-APIHEADER */
  readonly xapiheader?: string | number | null | undefined
  /** the id returned by sendEmail */
  readonly messageid?: string | number | null | undefined
  /** scrollid of the previous response, with otherwise identical parameters */
  readonly scrollid?: string | number | null | undefined
}

export interface ListEventsData {
  readonly data: readonly {
    /** transaction number of this recipient, a multiple of 4 */
    readonly trid: number
    readonly rcptEmail: string
    readonly fromaddress: string
    /** yyyy-mm-dd hh:mm:ss in the account's time zone: time of acceptance */
    readonly requestedTime: string
    /** yyyy-mm-dd hh:mm:ss in the account's time zone: time of delivery; empty before */
    readonly deliveryTime: string
    /** yyyy-mm-dd hh:mm:ss in the account's time zone: time of the latest event */
    readonly modifiedTime: string
    /** the most advanced status */
    readonly status:
      | 'spam'
      | 'unsubscribe'
      | 'click'
      | 'open'
      | 'hardbounce'
      | 'softbounce'
      | 'dropped'
      | 'invalid'
      | 'sent'
      | 'processed'
    /** size of the message as submitted, in bytes */
    readonly size: number
    /** the server's reply, or why the message was not sent */
    readonly remarks: string
    readonly subject: string
    readonly xapiheader: string
    /** comma-separated */
    readonly tags: string
    /** human opens; the latest 20 */
    readonly opens: readonly {
      readonly ip: string
      readonly time: string
    }[]
    /** human clicks; the latest 20 */
    readonly clicks: readonly {
      readonly ip: string
      readonly link: string
      readonly time: string
    }[]
  }[]
  readonly status: 'success'
  /** number of matching rows */
  readonly totalRecords: number
  /** there may be more than totalRecords */
  readonly totalIsMinimum?: true | undefined
  /** ISO 8601: where this call stopped searching before its page was full; scrollid goes on from there */
  readonly searchedTo?: string | undefined
  /** cursor of the next page; absent on the last page */
  readonly scrollid?: string | undefined
}

export interface ReadEventFeedInput {
  /** `next` of the previous response; 0: from the first event */
  readonly after?: number | undefined
  /**
   * `epoch` of the previous response: if the database was restored to an earlier moment since then, the response begins with the first event
   * that has changed
   */
  readonly epoch?: number | undefined
  /** at most 1000; default 100 */
  readonly limit?: number | string | null | undefined
  /** only these event types */
  readonly types?: string | readonly string[] | undefined
  /** seconds to wait for an event, at most 30 */
  readonly wait?: number | undefined
}

export interface ReadEventFeedData {
  readonly data: readonly {
    /** sequence number of the account: 1, 2, 3, without gaps */
    readonly number: number
    /** never changes; the same in webhooks */
    readonly id: string
    readonly type:
      | 'processed'
      | 'sent'
      | 'deferred'
      | 'bounced'
      | 'dropped'
      | 'invalid'
      | 'expired'
      | 'opened'
      | 'clicked'
      | 'unsubscribed'
      | 'resubscribed'
      | 'spam'
      | 'account'
      | 'domain'
      | 'domain.inactive'
      | 'webhook.disabled'
      | 'key.expiring'
    /** ISO 8601, UTC */
    readonly time: string
    readonly trid: number | null
    readonly messageId: string | null
    readonly email: string | null
    readonly fromaddress: string | null
    readonly xapiheader: string | null
    readonly tags: string | null
    readonly metadata: Readonly<Record<string, string>> | null
  }[]
  /** value of `after` for the next request */
  readonly next: number
  /** number of the latest event */
  readonly last: number
  /** number of the oldest event not deleted; earlier events after `after` have been deleted */
  readonly oldest: number
  /** increases when the database is restored to an earlier moment: later numbers then mean other events */
  readonly epoch: number
}

export interface ExplainDeliveryInput {
  /** the id returned by sendEmail; required unless trid is given */
  readonly messageid?: string | number | null | undefined
  /** transaction number: only this delivery */
  readonly trid?: string | number | null | undefined
}

export type ExplainDeliveryData = readonly {
  /** transaction number of this recipient, a multiple of 4 */
  readonly trid: number
  readonly messageId: string
  readonly recipient: string
  /** position among the recipients of the message, from 0 */
  readonly recipientNo: number
  readonly state: 'scheduled' | 'queued' | 'sending' | 'deferred' | 'delivered' | 'bounced' | 'dropped' | 'expired'
  /** null if it is finished */
  readonly waitingFor:
    | 'scheduled'
    | 'batch-paused'
    | 'retry'
    | 'provider-pause'
    | 'provider-rate'
    | 'connections'
    | 'warm-up'
    | 'source-paused'
    | 'no-source'
    | 'operator-hold'
    | 'account-held'
    | 'fair-share'
    | 'no-worker'
    | 'set-aside'
    | 'indeterminate'
    | 'dns'
    | 'moment'
    | null
  /** the same as a sentence, with times in UTC */
  readonly text: string
  /** ISO 8601, UTC: since when it has waited for this, or when it was finished */
  readonly since: string | null
  /** ISO 8601, UTC: the next attempt; null if none is planned for a certain time */
  readonly nextAt: string | null
  /** when it is expected to be tried */
  readonly expected: {
    /** ISO 8601, UTC: as likely before as after; null if there is no estimate */
    readonly p50: string | null
    /** ISO 8601, UTC: probably before; null if unknown */
    readonly p90: string | null
    /** what the times are derived from, or why there is no estimate */
    readonly basis: string
  } | null
  /**
   * number of deliveries ahead of it, counted up to 10,000, or 1,000 if the message waits at more than ten destinations; null if it does not
   * wait for its turn
   */
  readonly ahead: number | null
  /** ISO 8601, UTC: until when it is tried; null if it is finished */
  readonly deadline: string | null
  /** the provider or site whose capacity it waits for */
  readonly place: string | null
  /** the latest ten, the latest last */
  readonly attempts: readonly {
    /** from 1 */
    readonly attempt: number
    /** ISO 8601, UTC: its beginning */
    readonly time: string
    readonly outcome: 'delivered' | 'deferred' | 'bounced' | 'abandoned'
    /** the connection was lost at a moment at which the server may have accepted the message */
    readonly indeterminate: boolean
    /** the step of the SMTP session that was reached */
    readonly stage: string | null
    readonly host: string | null
    /** the provider or site, with the source address if there are several: google@mta-1 */
    readonly place: string | null
    readonly code: number | null
    readonly enhanced: string | null
    readonly reply: string | null
    /** the TLS level that was demanded, if any */
    readonly tlsPolicy: string | null
    /** where that demand comes from: the message, a rule, the provider table, MTA-STS or DANE */
    readonly tlsOrigin:
      | 'message'
      | 'account-domain'
      | 'account'
      | 'domain'
      | 'operator'
      | 'provider'
      | 'mta-sts'
      | 'dane'
      | null
  }[]
}[]

export class Events {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Search the event log: all recipients of a date range with their status. Needs the scope events. */
  list(input: ListEventsInput = {}, options?: CallOptions): Promise<ListEventsData> {
    return this.#call({ method: 'GET', path: '/logs', gives: 'whole' }, input, options)
  }

  /** List events after a sequence number; optionally wait for new ones. Needs the scope events. */
  readFeed(input: ReadEventFeedInput = {}, options?: CallOptions): Promise<ReadEventFeedData> {
    return this.#call({ method: 'GET', path: '/events/feed', gives: 'whole' }, input, options)
  }

  /** Show what the deliveries of a message wait for and when they are expected; the first 100. Needs the scope events. */
  explainDelivery(input: ExplainDeliveryInput = {}, options?: CallOptions): Promise<ExplainDeliveryData> {
    return this.#call({ method: 'GET', path: '/delivery' }, input, options)
  }
}
