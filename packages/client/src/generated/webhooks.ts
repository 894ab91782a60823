// Generated from the operations of the v2 API by `npm run docs`. Edit those, not this file.
import type { Call, CallOptions } from '../call.ts'

export interface Webhook {
  readonly webhookId: number
  readonly url: string
  readonly events: readonly string[]
  /** the domains to which its events are limited; empty: no limit */
  readonly domains: readonly string[]
  /** the tags to which its events are limited; empty: no limit */
  readonly tags: readonly string[]
  /** 0 or 1 */
  readonly enabled: number
  /** values that look like secrets are shown as *** */
  readonly headers: Readonly<Record<string, string>>
  readonly format: 'v2' | 'v3'
  /** 0 or 1 */
  readonly strings: number
  /** 0 or 1 */
  readonly abuse: number
  /** 0 or 1 */
  readonly eventIds: number
  /** v3: verifies the ECDSA signature */
  readonly publicKey: string
  /** failing: only single requests are sent, to test the URL */
  readonly state: 'active' | 'failing' | 'disabled'
  /** reason why it is failing or was disabled by the service */
  readonly problem: string | null
  /** time since which it has been failing or disabled by the service */
  readonly since: string | null
  readonly lastSuccess: string | null
  /** the account's events up to this number have been sent or are being sent */
  readonly lastEvent: number
  readonly createdTime: string
}

export interface CreateWebhookInput {
  readonly url: string
  /**
   * a list, or comma-separated: sent, bounced, opened, clicked, unsubscribed, spam, dropped, invalid; or all. v3 also has processed, deferred
   * and resubscribed. About the account: account, domain.inactive, webhook.disabled, key.expiring. Names of v3 and the log will do
   */
  readonly events: string | readonly string[]
  /** default 1; 0: nothing is sent, and the URL is not probed */
  readonly enabled?: boolean | number | undefined
  /** sent with every request, at most 10; replaces the previous headers */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** only events of messages from these domains and hosts below them, as a list or comma-separated; empty or null: no limit */
  readonly domains?: string | readonly string[] | null | undefined
  /** only events of messages with one of these tags, as a list or comma-separated; empty or null: no limit */
  readonly tags?: string | readonly string[] | null | undefined
  /** format of the events; default v2 */
  readonly format?: 'v2' | 'v3' | undefined
  /** v2: send every value as text, as before 2019 */
  readonly strings?: boolean | number | undefined
  /** v2: name complaints abuse instead of spam */
  readonly abuse?: boolean | number | undefined
  /** v2: add an EVENTID to each event, the same at every attempt */
  readonly eventIds?: boolean | number | undefined
}

export type CreateWebhookData = {
  readonly webhookId: number
  readonly url: string
  readonly events: readonly string[]
  /** the domains to which its events are limited; empty: no limit */
  readonly domains: readonly string[]
  /** the tags to which its events are limited; empty: no limit */
  readonly tags: readonly string[]
  /** 0 or 1 */
  readonly enabled: number
  /** values that look like secrets are shown as *** */
  readonly headers: Readonly<Record<string, string>>
  readonly format: 'v2' | 'v3'
  /** 0 or 1 */
  readonly strings: number
  /** 0 or 1 */
  readonly abuse: number
  /** 0 or 1 */
  readonly eventIds: number
  /** v3: verifies the ECDSA signature */
  readonly publicKey: string
  /** failing: only single requests are sent, to test the URL */
  readonly state: 'active' | 'failing' | 'disabled'
  /** reason why it is failing or was disabled by the service */
  readonly problem: string | null
  /** time since which it has been failing or disabled by the service */
  readonly since: string | null
  readonly lastSuccess: string | null
  /** the account's events up to this number have been sent or are being sent */
  readonly lastEvent: number
  readonly createdTime: string
  /** secret of the Standard Webhooks signature; shown only once */
  readonly secret: string
}

export type ListWebhooksData = readonly Webhook[]

export interface ShowWebhookInput {
  readonly webhookId: number
}

export type ShowWebhookData = Webhook

export interface UpdateWebhookInput {
  readonly webhookId: number
  readonly url?: string | undefined
  /**
   * a list, or comma-separated: sent, bounced, opened, clicked, unsubscribed, spam, dropped, invalid; or all. v3 also has processed, deferred
   * and resubscribed. About the account: account, domain.inactive, webhook.disabled, key.expiring. Names of v3 and the log will do
   */
  readonly events?: string | readonly string[] | undefined
  /** default 1; 0: nothing is sent, and the URL is not probed */
  readonly enabled?: boolean | number | undefined
  /** sent with every request, at most 10; replaces the previous headers */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** only events of messages from these domains and hosts below them, as a list or comma-separated; empty or null: no limit */
  readonly domains?: string | readonly string[] | null | undefined
  /** only events of messages with one of these tags, as a list or comma-separated; empty or null: no limit */
  readonly tags?: string | readonly string[] | null | undefined
  /** format of the events; default v2 */
  readonly format?: 'v2' | 'v3' | undefined
  /** v2: send every value as text, as before 2019 */
  readonly strings?: boolean | number | undefined
  /** v2: name complaints abuse instead of spam */
  readonly abuse?: boolean | number | undefined
  /** v2: add an EVENTID to each event, the same at every attempt */
  readonly eventIds?: boolean | number | undefined
}

export type UpdateWebhookData = Webhook

export interface RemoveWebhookInput {
  readonly webhookId: number
}

export type RemoveWebhookData = Readonly<Record<string, unknown>>

export interface TestWebhookInput {
  readonly webhookId: number
  /** only this event, also if the webhook does not get it; default: its events */
  readonly event?: string | undefined
}

export type TestWebhookData = {
  readonly delivered: boolean
  readonly events: number
  /** null if there was no response */
  readonly status: number | null
  readonly milliseconds: number
  readonly problem: string | null
  /** beginning of the response body */
  readonly answer: string
}

export interface RotateWebhookSecretInput {
  readonly webhookId: number
  /** default 24 */
  readonly overlapHours?: number | undefined
}

export type RotateWebhookSecretData = {
  readonly webhookId: number
  /** secret of the Standard Webhooks signature; shown only once */
  readonly secret: string
}

export interface ListWebhookDeliveriesInput {
  readonly webhookId: number
  /** at most 200 (default) */
  readonly limit?: number | string | null | undefined
  /** number of rows to skip; default 0 */
  readonly offset?: number | string | null | undefined
  /** 1: only those that failed */
  readonly failed?: boolean | number | undefined
}

export type ListWebhookDeliveriesData = readonly {
  readonly requestId: string
  /** its webhook-id header */
  readonly batch: string
  readonly time: string
  readonly firstEvent: number
  readonly lastEvent: number
  /** events in it; null for requests of older versions */
  readonly events: number | null
  readonly attempt: number
  readonly status: number | null
  readonly milliseconds: number
  readonly problem: string | null
}[]

export interface ShowWebhookDeliveryInput {
  readonly webhookId: number
  readonly requestId: string
}

export type ShowWebhookDeliveryData = {
  readonly requestId: string
  /** its webhook-id header */
  readonly batch: string
  readonly time: string
  readonly firstEvent: number
  readonly lastEvent: number
  /** events in it; null for requests of older versions */
  readonly events: number | null
  readonly attempt: number
  readonly status: number | null
  readonly milliseconds: number
  readonly problem: string | null
  /** null for requests of older versions; values that look like secrets are ***, those changed since null */
  readonly headers:
    | readonly {
        readonly name: string
        readonly value: string | null
      }[]
    | null
  /** written again from the events: of erased recipients it has the pseudonyms */
  readonly body: string | null
  /** events of the body that are no longer stored */
  readonly missingEvents: number
  readonly answerHeaders: readonly {
    readonly name: string
    readonly value: string | null
  }[]
  /** the first 4096 octets of the response body */
  readonly answer: string
  /** of its batch */
  readonly state: 'delivered' | 'waiting' | 'dead'
  readonly nextTry: string | null
}

export interface ResendWebhookDeliveryInput {
  readonly webhookId: number
  readonly requestId: string
}

export type ResendWebhookDeliveryData = {
  /** its webhook-id header */
  readonly batch: string
}

export interface ListWebhookFailuresInput {
  readonly webhookId: number
  /** at most 1000; default 100 */
  readonly limit?: number | string | null | undefined
  /** number of rows to skip; default 0 */
  readonly offset?: number | string | null | undefined
}

export type ListWebhookFailuresData = readonly {
  readonly failureId: string
  readonly firstEvent: number
  readonly lastEvent: number
  readonly attempts: number
  readonly since: string
  readonly lastTime: string
  readonly problem: string | null
}[]

export interface RedeliverWebhookFailuresInput {
  readonly webhookId: number
  /** default: all */
  readonly failureId?: string | undefined
}

export type RedeliverWebhookFailuresData = {
  /** number of batches to be sent again */
  readonly batches: number
}

export interface ReplayWebhookInput {
  readonly webhookId: number
  /** an event of the last 30 days, or the next event */
  readonly from: number
}

export type ReplayWebhookData = {
  readonly from: number
}

export interface ListenToWebhookEventsInput {
  /** `next` of the previous response; default: only what happens from now on */
  readonly after?: number | undefined
  /**
   * a list, or comma-separated: sent, bounced, opened, clicked, unsubscribed, spam, dropped, invalid; or all. v3 also has processed, deferred
   * and resubscribed. About the account: account, domain.inactive, webhook.disabled, key.expiring. Names of v3 and the log will do
   */
  readonly events?: string | readonly string[] | undefined
  /** format of the events; default v2 */
  readonly format?: 'v2' | 'v3' | undefined
  /** v2: add an EVENTID to each event */
  readonly eventIds?: boolean | number | undefined
  /** seconds to wait, at most 30 */
  readonly wait?: number | undefined
}

export interface ListenToWebhookEventsData {
  readonly data: {
    /** the body of the request, at most 100 events; null if there is none yet */
    readonly body: string | null
  }
  /** value of `after` for the next request */
  readonly next: number
}

export class Webhooks {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Create a webhook. The URL is probed first and must return 2xx. Needs the scope webhooks. */
  create(input: CreateWebhookInput, options?: CallOptions): Promise<CreateWebhookData> {
    return this.#call({ method: 'POST', path: '/webhooks' }, input, options)
  }

  /** List the webhooks (at most 10) without their secrets. Needs the scope webhooks. */
  list(options?: CallOptions): Promise<ListWebhooksData> {
    return this.#call({ method: 'GET', path: '/webhooks' }, {}, options)
  }

  /** Show a webhook and its state. Needs the scope webhooks. */
  show(input: ShowWebhookInput, options?: CallOptions): Promise<ShowWebhookData> {
    return this.#call({ method: 'GET', path: '/webhooks/:webhookId' }, input, options)
  }

  /** Change a webhook. Omitted parameters are unchanged. If it is enabled again, it resumes where it stopped. Needs the scope webhooks. */
  update(input: UpdateWebhookInput, options?: CallOptions): Promise<UpdateWebhookData> {
    return this.#call({ method: 'PATCH', path: '/webhooks/:webhookId' }, input, options)
  }

  /** Delete a webhook and its pending batches. Needs the scope webhooks. */
  remove(input: RemoveWebhookInput, options?: CallOptions): Promise<RemoveWebhookData> {
    return this.#call({ method: 'DELETE', path: '/webhooks/:webhookId' }, input, options)
  }

  /** Send a sample of each of its events, or of one kind, to the URL and return the response. Needs the scope webhooks. */
  test(input: TestWebhookInput, options?: CallOptions): Promise<TestWebhookData> {
    return this.#call({ method: 'POST', path: '/webhooks/:webhookId/test' }, input, options)
  }

  /** Rotate the secret. The new one is shown once; requests are signed with both during a grace period. Needs the scope webhooks. */
  rotateSecret(input: RotateWebhookSecretInput, options?: CallOptions): Promise<RotateWebhookSecretData> {
    return this.#call({ method: 'POST', path: '/webhooks/:webhookId/rotate' }, input, options)
  }

  /** List the requests of the last 7 days, newest first. Needs the scope webhooks. */
  listDeliveries(input: ListWebhookDeliveriesInput, options?: CallOptions): Promise<ListWebhookDeliveriesData> {
    return this.#call({ method: 'GET', path: '/webhooks/:webhookId/deliveries' }, input, options)
  }

  /** Show a request of the last 7 days with both sides: header fields, body, response. Needs the scope webhooks. */
  showDelivery(input: ShowWebhookDeliveryInput, options?: CallOptions): Promise<ShowWebhookDeliveryData> {
    return this.#call({ method: 'GET', path: '/webhooks/:webhookId/deliveries/:requestId' }, input, options)
  }

  /** Send the batch of a request again, or at once if it waits for its next try. Needs the scope webhooks. */
  resendDelivery(input: ResendWebhookDeliveryInput, options?: CallOptions): Promise<ResendWebhookDeliveryData> {
    return this.#call({ method: 'POST', path: '/webhooks/:webhookId/deliveries/:requestId/resend' }, input, options)
  }

  /** List dead-lettered batches, latest first: they failed while others succeeded. Needs the scope webhooks. */
  listFailures(input: ListWebhookFailuresInput, options?: CallOptions): Promise<ListWebhookFailuresData> {
    return this.#call({ method: 'GET', path: '/webhooks/:webhookId/failures' }, input, options)
  }

  /** Retry a dead-lettered batch, or all of them. Needs the scope webhooks. */
  redeliverFailures(
    input: RedeliverWebhookFailuresInput,
    options?: CallOptions,
  ): Promise<RedeliverWebhookFailuresData> {
    return this.#call({ method: 'POST', path: '/webhooks/:webhookId/redeliver' }, input, options)
  }

  /** Resume a webhook at an event number: that event and all later ones are sent, or sent again. Needs the scope webhooks. */
  replay(input: ReplayWebhookInput, options?: CallOptions): Promise<ReplayWebhookData> {
    return this.#call({ method: 'POST', path: '/webhooks/:webhookId/replay' }, input, options)
  }

  /** Read what a webhook would get, without one; optionally wait for it. Needs the scope webhooks. */
  listenToEvents(input: ListenToWebhookEventsInput = {}, options?: CallOptions): Promise<ListenToWebhookEventsData> {
    return this.#call({ method: 'GET', path: '/webhooks/listen', gives: 'whole' }, input, options)
  }
}
