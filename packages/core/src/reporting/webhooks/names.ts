import type { Event } from '../../events/event.ts'
import { eventWord, isMeant, wordOf } from '../../events/event-names.ts'
import {
  eventType,
  isWebhookEvent,
  RECIPIENT_EVENTS,
  WEBHOOK_EVENTS,
  type WebhookEvent,
} from '../../events/event-types.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { WebhookFormat } from './webhook.ts'

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

/** Returns the event types with these names, which may be of either format. Throws webhookEventInvalid, with the names of the format. */
export function eventsNamed(names: readonly string[], format: WebhookFormat): WebhookEvent[] {
  const wanted = new Set<WebhookEvent>()
  const known = knownTo(format)
  for (const given of names) {
    const word = eventWord(given)
    const found = known.filter(
      (type) =>
        (word === 'all' && RECIPIENT_EVENTS.includes(type)) || isMeant(word, type) || eventType(type).v3 === word,
    )
    if (found.length === 0) throw unknownEvent(given, format)
    for (const type of found) wanted.add(type)
  }
  if (wanted.size === 0) throw unknownEvent('', format)
  return WEBHOOK_EVENTS.filter((type) => wanted.has(type))
}

const knownTo = (format: WebhookFormat) => WEBHOOK_EVENTS.filter((type) => eventType(type)[format] !== null)

/** Returns webhookEventInvalid, with all names that the format has. */
export function unknownEvent(given: string, format: WebhookFormat): ServiceError {
  const names = [...new Set(knownTo(format).map(wordOf)), 'all'].join(', ')
  return new ServiceError('webhookEventInvalid', { values: { event: given.slice(0, 50), names } })
}

/** Returns the names of event types in a format, without duplicates. */
export function namesOf(events: readonly WebhookEvent[], format: WebhookFormat, abuse: boolean): string[] {
  const names = events.flatMap((type) => eventType(type)[format] ?? [])
  return [...new Set(names)].map((name) => (name === 'spam' && abuse ? 'abuse' : name))
}
