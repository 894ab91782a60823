import { type Actor, OPERATOR } from '../../accounts/audit/index.ts'
import { withDeadline } from '../../platform/database/deadlines.ts'
import { type ClaimedBatch, claimBatches, noticeEvents } from './claim.ts'
import { deliverBatch } from './deliver-batch.ts'
import type { WebhooksDependencies } from './dependencies.ts'
import { type Finished, forgetRequests } from './finish.ts'
import { createLimitedRequests } from './limited-requests.ts'
import { createWebhook } from './manage/create-webhook.ts'
import { listDead, listDeliveries } from './manage/list-deliveries.ts'
import { madeFor, type WebhookCall } from './manage/made-for.ts'
import { redeliver } from './manage/redeliver.ts'
import { removeWebhook } from './manage/remove-webhook.ts'
import { replay } from './manage/replay.ts'
import { requireWebhook } from './manage/require-webhook.ts'
import { rotateSecret } from './manage/rotate-secret.ts'
import { resendRequest, showRequest, type WebhookRequest } from './manage/show-request.ts'
import { testUrl, testWebhook } from './manage/test-webhook.ts'
import { updateWebhook } from './manage/update-webhook.ts'
import { countPending, type PendingEvents } from './pending.ts'
import type { RequestPage } from './requests.ts'
import { openWebhook } from './sealing.ts'
import type { WebhookResponse } from './send.ts'
import { selectWebhooks } from './store.ts'
import type { DeadBatch, ProbeOptions, Webhook, WebhookAct, WebhookDelivery, WebhookSettings } from './webhook.ts'

export type { ClaimedBatch } from './claim.ts'
export type { WebhooksDependencies } from './dependencies.ts'
export type { Finished } from './finish.ts'
export { createRequestSigner, type RequestSigner, webhookBody } from './listen.ts'
export { MAX_WEBHOOKS } from './manage/create-webhook.ts'
export type { WebhookCall } from './manage/made-for.ts'
export type { HeaderField, WebhookRequest } from './manage/show-request.ts'
export { eventsNamed, namesOf } from './names.ts'
export type { PendingEvents } from './pending.ts'
export type { RequestPage } from './requests.ts'
export { shownHeaders } from './rules.ts'
export type { WebhookResponse as Told } from './send.ts'
export { readTroubledWebhooks, type TroubledWebhooks } from './troubled.ts'
export {
  type DeadBatch,
  type ProbeOptions,
  WEBHOOK_FORMATS,
  type Webhook,
  type WebhookAct,
  type WebhookDelivery,
  type WebhookSettings,
} from './webhook.ts'

/** URLs to which events of accounts are reported. All methods with an id throw webhookUnknown. */
export interface Webhooks {
  /**
   * Creates a webhook. If it is enabled, its URL is probed first. Throws webhookUrlInvalid, webhookUnanswered, webhooksTooMany, accountSuspended or
   * parameterInvalid (headers).
   */
  create(
    accountId: number,
    settings: WebhookSettings,
    by?: Actor,
    asking?: ProbeOptions,
  ): Promise<{ webhook: Webhook; secret: string }>
  list(accountId: number): Promise<Webhook[]>
  show(accountId: number, id: number): Promise<Webhook>
  /**
   * Changes a webhook; omitted settings are unchanged. The URL is probed as by `create` if URL, format or headers change or the
   * webhook is enabled.
   */
  update(act: WebhookAct, change: Partial<WebhookSettings>, asking?: ProbeOptions): Promise<Webhook>
  remove(act: WebhookAct): Promise<void>
  /**
   * Sends a sample of each of its events, or of those with one name, and returns the receiver's response. Throws webhookEventInvalid or overloaded.
   */
  test(accountId: number, id: number, event?: string): Promise<WebhookResponse & { readonly events: number }>
  /**
   * Sends a sample of every event to any URL, as the webhook with this id would, or without an id as an unsigned v3 webhook.
   * Throws webhookUrlInvalid or overloaded.
   */
  tryUrl(accountId: number, url: string, id?: number): Promise<WebhookResponse>
  /** Creates and returns a new secret. The old one also signs during the grace period, by default 24 hours. */
  rotateSecret(act: WebhookAct, overlapHours?: number): Promise<string>
  /** Returns the latest requests of the last 7 days, newest first. See requests.ts. */
  deliveries(accountId: number, id: number, page: RequestPage): Promise<WebhookDelivery[]>
  /** Returns one of them with both sides. See show-request.ts. */
  request(accountId: number, request: { readonly webhookId: number; readonly id: number }): Promise<WebhookRequest>
  /** Sends the batch of a request again, or at once if it waits for its next try; returns its id. See show-request.ts. */
  resend(act: WebhookAct, requestId: number): Promise<string>
  /** Counts the events that the webhook is still to get. See pending.ts. */
  pending(webhook: Webhook): Promise<PendingEvents>
  /** Returns the requests with events of a message, the latest first. See made-for.ts. */
  madeFor(accountId: number, messageId: string): Promise<WebhookCall[]>
  /** Returns dead-lettered batches, latest first. */
  dead(
    accountId: number,
    id: number,
    page: { limit: number; offset: number },
  ): Promise<{ batches: DeadBatch[]; total: number }>
  /** Retries one dead-lettered batch, or all, and returns their number. Throws webhookFailureUnknown. */
  redeliver(act: WebhookAct, batchId?: string): Promise<number>
  /**
   * Resumes at the event with this number, even if it was reported already. Throws webhookReplayInvalid if the event does not
   * exist or is older than 30 days.
   */
  replay(act: WebhookAct, from: number): Promise<void>
  /** Makes webhooks due whose accounts have new events. To be called after new events, and regularly. */
  notice(): Promise<number>
  /** Claims batches of one webhook; undefined if none is due that is not of these holders, accounts with their subaccounts. See claim.ts. */
  claim(slots: number, except?: readonly number[]): Promise<ClaimedBatch[] | undefined>
  /** Sends a batch and records the response. If aborted, the batch is released. */
  deliver(batch: ClaimedBatch, signal: AbortSignal): Promise<Finished>
  /** Deletes some requests that are older than a week. Returns their number. */
  forgetOld(): Promise<number>
}

export function createWebhooks(dependencies: WebhooksDependencies): Webhooks {
  const { sql, secrets, http } = dependencies
  const clients = { ...dependencies, requests: createLimitedRequests({ sql, http }) }

  return {
    create: (accountId, settings, by = OPERATOR, { ask = true } = {}) =>
      createWebhook(clients, settings, { accountId, by, ask }),
    list: async (accountId) => (await selectWebhooks(sql, accountId)).map((row) => openWebhook(secrets, row)),
    show: (accountId, id) => requireWebhook(dependencies, accountId, id),
    update: (act, change, { ask = true } = {}) => updateWebhook(clients, act, change, ask),
    remove: (act) => removeWebhook(dependencies, act),
    test: (accountId, id, event) => testWebhook(clients, accountId, id, event),
    tryUrl: (accountId, url, id) => testUrl(clients, accountId, url, id),
    rotateSecret: (act, overlapHours) => rotateSecret(dependencies, act, overlapHours),
    deliveries: (accountId, id, page) => listDeliveries(dependencies, accountId, id, page),
    request: (accountId, request) => showRequest(dependencies, accountId, request),
    resend: (act, requestId) => resendRequest(dependencies, act, requestId),
    pending: (webhook) => countPending(sql, webhook),
    madeFor: (accountId, messageId) => madeFor(withDeadline(sql, 'work'), accountId, messageId),
    dead: (accountId, id, page) => listDead(dependencies, accountId, id, page),
    redeliver: (act, batchId) => redeliver(dependencies, act, batchId),
    replay: (act, from) => replay(dependencies, act, from),
    notice: () => noticeEvents(sql),
    claim: (slots, except) => claimBatches(sql, slots, except),
    deliver: (batch, signal) => deliverBatch(dependencies, batch, signal),
    forgetOld: () => forgetRequests(sql),
  }
}
