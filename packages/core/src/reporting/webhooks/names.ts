import { ServiceError } from '../../platform/errors.ts'
import type { Event } from '../events/event.ts'
import type { WebhookEvent, WebhookFormat } from './webhook.ts'

/** What each shape calls an event; null: it has no name there, and is not told (contract 16.4; v3 contract 9.2). */
const NAMES: Readonly<Record<WebhookEvent, Readonly<Record<WebhookFormat, string | null>>>> = {
  processed: { v2: null, v3: 'processed' },
  sent: { v2: 'sent', v3: 'delivered' },
  deferred: { v2: null, v3: 'deferred' },
  bounced: { v2: 'bounced', v3: 'bounce' },
  // Given up after days of trying: a bounce to the reader.
  expired: { v2: 'bounced', v3: 'bounce' },
  dropped: { v2: 'dropped', v3: 'dropped' },
  invalid: { v2: 'invalid', v3: 'dropped' },
  opened: { v2: 'opened', v3: 'open' },
  clicked: { v2: 'clicked', v3: 'click' },
  unsubscribed: { v2: 'unsubscribed', v3: 'unsubscribe' },
  complained: { v2: 'spam', v3: 'spamreport' },
}

const ALIASES: Readonly<Record<string, string>> = {
  ...{ delivered: 'sent', bounce: 'bounced', open: 'opened', click: 'clicked', unsubscribe: 'unsubscribed' },
  ...{ spamreport: 'spam', spam_report: 'spam', abuse: 'spam', complained: 'spam', group_unsubscribe: 'unsubscribed' },
}

const EVERY = Object.keys(NAMES) as WebhookEvent[]

/** What the shape calls this event; null: it has no name there. */
export function nameOf({ type, detail }: Pick<Event, 'type' | 'detail'>, format: WebhookFormat): string | null {
  if (type === 'domain') return null
  const left = format === 'v3' && type === 'unsubscribed' && detail.group !== undefined
  return left ? 'group_unsubscribe' : eventName(type, format)
}

export function eventName(type: WebhookEvent, format: WebhookFormat): string | null {
  return NAMES[type][format]
}

/** The events of these names, in the words of either shape. Throws webhookEventInvalid. */
export function eventsNamed(names: readonly string[], format: WebhookFormat): WebhookEvent[] {
  const wanted = new Set<WebhookEvent>()
  for (const given of names) {
    const name = given.trim().toLowerCase()
    const plain = ALIASES[name] ?? name
    const found = EVERY.filter(
      (type) =>
        NAMES[type][format] !== null && (plain === 'all' || NAMES[type].v2 === plain || NAMES[type].v3 === name),
    )
    if (found.length === 0) throw new ServiceError('webhookEventInvalid', { values: { event: given.slice(0, 50) } })
    for (const type of found) wanted.add(type)
  }
  if (wanted.size === 0) throw new ServiceError('webhookEventInvalid', { values: { event: '' } })
  return EVERY.filter((type) => wanted.has(type))
}

/** Their names in the shape, each once. */
export function namesOf(events: readonly WebhookEvent[], format: WebhookFormat, abuse: boolean): string[] {
  const names = events.flatMap((type) => NAMES[type][format] ?? [])
  return [...new Set(names)].map((name) => (name === 'spam' && abuse ? 'abuse' : name))
}
