import type { Event } from '../../events/event.ts'
import type { Sql } from '../../platform/database/database.ts'
import { readEvents } from '../events/read.ts'
import type { ClaimedBatch } from './claim.ts'
import type { WebhooksDependencies } from './dependencies.ts'
import { type Finished, finishBatch, releaseBatch } from './finish.ts'
import { nameOf } from './names.ts'
import { keysOf, openWebhook } from './sealing.ts'
import { post, writeBody } from './send.ts'
import { selectWebhook } from './store.ts'
import { traceRequest } from './trace.ts'
import type { WebhookSettings } from './webhook.ts'

export async function deliverBatch(
  dependencies: WebhooksDependencies,
  batch: ClaimedBatch,
  signal: AbortSignal,
): Promise<Finished> {
  const { sql, secrets, http } = dependencies
  const row = await selectWebhook(sql, batch.accountId, batch.webhookId)
  const webhook = row && openWebhook(secrets, row)
  const keys = webhook && (await keysOf(dependencies, webhook))
  if (!webhook || !keys) return 'late'
  const events = (batch.events ?? (await readBatch(sql, batch))).filter((event) => isWanted(webhook, event))
  if (events.length === 0) return finishBatch(sql, batch, { status: null, milliseconds: 0 })
  const target = { ...webhook, ...keys }
  const body = writeBody(target, events)
  // No event has a name in this format. An empty batch would look like a probe.
  if (body === '[]') return finishBatch(sql, batch, { status: null, milliseconds: 0 })
  const id = `msg_${batch.id.replaceAll('-', '')}`
  const response = await post(http, target, { id, body, signal })
  if (signal.aborted && response.status === null) {
    await releaseBatch(sql, batch)
    return 'late'
  }
  await traceRequest(sql, events, { webhookId: batch.webhookId, ...response })
  return finishBatch(sql, batch, response)
}

async function readBatch(sql: Sql, { accountId, after, to, types }: ClaimedBatch): Promise<Event[]> {
  const events = []
  for (let reached = after; reached < to; ) {
    const page = await readEvents(sql, { accountId, after: reached, limit: 100, types })
    events.push(...page.events.filter(({ number }) => number <= to))
    if (page.next === reached) break
    reached = page.next
  }
  return events
}

function isWanted({ names, format }: WebhookSettings, event: Event): boolean {
  const name = nameOf(event, format)
  return name !== null && (names === null || names.includes(name))
}
