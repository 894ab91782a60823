import type { Event } from '../../events/event.ts'
import type { Sql } from '../../platform/database/database.ts'
import { readEvents } from '../events/read.ts'
import type { ClaimedBatch } from './claim.ts'
import type { WebhooksDependencies } from './dependencies.ts'
import { type Finished, finishBatch, releaseBatch } from './finish.ts'
import { nameOf } from './names.ts'
import { keysOf, openWebhook } from './sealing.ts'
import { bodyOf, post } from './send.ts'
import { selectWebhook } from './store.ts'
import { traceRequest } from './trace.ts'
import type { LeasedBatch, Written } from './webhook.ts'

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
  const events = wantedOf(webhook, batch.events ?? (await readBatch(sql, batch)))
  if (events.length === 0) return finishBatch(sql, batch, undefined)
  const target = { ...webhook, ...keys }
  const body = bodyOf(target, events)
  // No event has a name in this format. An empty batch would look like a probe.
  if (body === '[]') return finishBatch(sql, batch, undefined)
  const id = `msg_${batch.id.replaceAll('-', '')}`
  const response = await post(http, target, { id, body, signal })
  if (signal.aborted && response.status === null) {
    await releaseBatch(sql, batch)
    return 'late'
  }
  await traceRequest(sql, events, { webhookId: batch.webhookId, ...response })
  const { format, asText, abuse, eventIds, names, domains = null, tags = null } = webhook
  const written = { format, asText, abuse, eventIds, names, domains, tags }
  return finishBatch(sql, batch, {
    ...response,
    exchange: { ...response.exchange, events: events.length, written },
  })
}

/** Returns the events of a batch, also of those that the webhook is not to get. */
export async function readBatch(
  sql: Sql,
  { accountId, after, to, types }: Pick<LeasedBatch, 'accountId' | 'after' | 'to' | 'types'>,
): Promise<Event[]> {
  const events = []
  for (let reached = after; reached < to; ) {
    const page = await readEvents(sql, { accountId, after: reached, limit: 100, types })
    events.push(...page.events.filter(({ number }) => number <= to))
    if (page.next === reached) break
    reached = page.next
  }
  return events
}

/** Returns the events with a name in the format that the webhook is to get. */
export function wantedOf(
  { names, format, domains, tags }: Pick<Written, 'names' | 'format' | 'domains' | 'tags'>,
  events: readonly Event[],
): Event[] {
  return events.filter((event) => {
    const { delivery } = event
    const name = nameOf(event, format)
    if (name === null || !(names === null || names.includes(name))) return false
    // An event of the account has no message by which it could be left out.
    if (!delivery) return true
    return (!domains || isFrom(delivery.from, domains)) && (!tags || delivery.tags.some((tag) => tags.includes(tag)))
  })
}

/** A host below a domain sends as that domain. */
function isFrom(address: string, domains: readonly string[]): boolean {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase()
  return domains.some((one) => domain === one || domain.endsWith(`.${one}`))
}
