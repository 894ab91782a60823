import { invalidParameter, ServiceError } from '../../../platform/errors.ts'
import { MAX_WAITING } from '../claim.ts'
import { readBatch, wantedOf } from '../deliver-batch.ts'
import type { WebhooksDependencies } from '../dependencies.ts'
import { type StoredRequest, selectRequest } from '../requests.ts'
import { shownHeaders } from '../rules.ts'
import { bodyOf } from '../send.ts'
import type { WebhookAct, WebhookDelivery } from '../webhook.ts'
import { changeWebhook, requireWebhook } from './require-webhook.ts'

export type HeaderField = readonly [name: string, value: string]

/** A request with both sides. */
export interface WebhookRequest extends WebhookDelivery, Pick<StoredRequest, 'batchState' | 'nextTryAt'> {
  /** Null for requests of older versions. Values that look like secrets are hidden; those of fields that were changed since are null. */
  readonly headers: readonly (readonly [name: string, value: string | null])[] | null
  /** Written again from the events, so without those that are no longer stored and with the pseudonyms of erased recipients. */
  readonly body: string | null
  /** Events of the body that are no longer stored. */
  readonly missing: number
  readonly answerHeaders: readonly HeaderField[]
  /** At most 4096 octets, read as UTF-8. */
  readonly answer: string
}

/** Throws webhookUnknown or parameterInvalid (requestId). */
export async function showRequest(
  dependencies: WebhooksDependencies,
  accountId: number,
  { webhookId, id }: { readonly webhookId: number; readonly id: number },
): Promise<WebhookRequest> {
  const { sql } = dependencies
  const webhook = await requireWebhook(dependencies, accountId, webhookId)
  const stored = requireRequest(await selectRequest(sql, { webhookId, id }))
  const { types, written, head, answerHead, answer, accountId: _, ...delivery } = stored
  const told = written && types ? wantedOf(written, await readBatch(sql, { ...stored, types })) : []
  const isUnchanged = (webhook.changedAt ?? webhook.createdAt) <= stored.at
  const own = Object.entries(shownHeaders(webhook.headers)).map(
    ([name, value]) => [name, isUnchanged ? value : null] as const,
  )
  return {
    ...delivery,
    headers: head === null ? null : [...own, ['content-type', 'application/json'], ...entriesOf(head)],
    body: written && bodyOf(written, told),
    missing: Math.max(0, (stored.events ?? 0) - told.length),
    answerHeaders: answerHead === null ? [] : (JSON.parse(answerHead) as HeaderField[]),
    answer: answer?.toString('utf8') ?? '',
  }
}

function entriesOf(json: string): HeaderField[] {
  return Object.entries(JSON.parse(json) as Record<string, string>)
}

function requireRequest(stored: StoredRequest | undefined): StoredRequest {
  if (!stored) throw invalidParameter('requestId', 'is not the id of a request of the last 7 days')
  return stored
}

/**
 * Sends the batch of a request again, with the same webhook-id, and returns its id: at once if it waits for its next try, otherwise separately from
 * others. Throws webhookUnknown, parameterInvalid (requestId) or, if too many batches wait, overloaded.
 */
export async function resendRequest(dependencies: WebhooksDependencies, act: WebhookAct, id: number): Promise<string> {
  const sent = await changeWebhook(dependencies, act, 'resend', async (sql) => {
    const { batchId, accountId, after, to, types, events } = requireRequest(
      await selectRequest(sql, { webhookId: act.id, id }),
    )
    if (types === null) throw invalidParameter('requestId', 'is a request of an older version, which is not stored')
    const { count } = await sql`
      insert into webhook_batches as b (id, webhook_id, account_id, after_number, to_number, types, events, aside)
      select ${batchId}::uuid, ${act.id}, ${accountId}, ${after}, ${to}, ${[...types]}::text[], ${events}, true
       where (select count(*) from webhook_batches where webhook_id = ${act.id} and state = 'waiting') < ${MAX_WAITING}
          or exists (select from webhook_batches where id = ${batchId}::uuid)
      on conflict (id) do update
         set state = 'waiting', aside = b.aside or b.state = 'dead', next_at = service_now(),
             attempts = case when b.state = 'dead' then 0 else b.attempts end,
             failed_since = case when b.state = 'dead' then null else b.failed_since end`
    if (count === 0) throw new ServiceError('overloaded', { reason: 'batches of the webhook' })
    await sql`update webhooks set due_at = service_now(), held_until = null where id = ${act.id}`
    return { result: batchId, after: { batch: batchId } }
  })
  return sent as string
}
