import type { Event } from '../../events/event.ts'
import {
  eventType,
  isWebhookEvent,
  RECIPIENT_EVENTS,
  WEBHOOK_EVENTS,
  type WebhookEvent,
} from '../../events/event-types.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { WebhookFormat } from './webhook.ts'

const ALIASES: Readonly<Record<string, string>> = {
  delivered: 'sent',
  bounce: 'bounced',
  open: 'opened',
  click: 'clicked',
  unsubscribe: 'unsubscribed',
  spamreport: 'spam',
  spam_report: 'spam',
  abuse: 'spam',
  complained: 'spam',
  group_unsubscribe: 'unsubscribed',
}

/** Returns the name of an event in a format; null if it has none. */
export function nameOf({ type, detail }: Pick<Event, 'type' | 'detail'>, format: WebhookFormat): string | null {
  if (!isWebhookEvent(type)) return null
  const ofGroup = detail.group !== undefined
  if (format === 'v3' && type === 'unsubscribed' && ofGroup) return 'group_unsubscribe'
  // v3 has no event for a recipient who receives all mail again.
  if (type === 'resubscribed' && !ofGroup) return null
  return eventName(type, format)
}

/** Returns the name of an event type in a format; null if it has none. */
export function eventName(type: WebhookEvent, format: WebhookFormat): string | null {
  return eventType(type)[format]
}

/** Returns the event types with these names, which may be of either format. Throws webhookEventInvalid. */
export function eventsNamed(names: readonly string[], format: WebhookFormat): WebhookEvent[] {
  const wanted = new Set<WebhookEvent>()
  for (const given of names) {
    const name = given.trim().toLowerCase()
    const plain = ALIASES[name] ?? name
    const found = WEBHOOK_EVENTS.filter(
      (type) =>
        eventType(type)[format] !== null &&
        ((plain === 'all' && RECIPIENT_EVENTS.includes(type)) ||
          eventType(type).v2 === plain ||
          eventType(type).v3 === name),
    )
    if (found.length === 0) throw new ServiceError('webhookEventInvalid', { values: { event: given.slice(0, 50) } })
    for (const type of found) wanted.add(type)
  }
  if (wanted.size === 0) throw new ServiceError('webhookEventInvalid', { values: { event: '' } })
  return WEBHOOK_EVENTS.filter((type) => wanted.has(type))
}

/** Returns the names of event types in a format, without duplicates. */
export function namesOf(events: readonly WebhookEvent[], format: WebhookFormat, abuse: boolean): string[] {
  const names = events.flatMap((type) => eventType(type)[format] ?? [])
  return [...new Set(names)].map((name) => (name === 'spam' && abuse ? 'abuse' : name))
}
