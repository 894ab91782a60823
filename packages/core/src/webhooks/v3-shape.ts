import type { Event, EventDelivery, EventDetail } from '../events/event.ts'
import { eventName } from './names.ts'
import { eventId, replyLine } from './v2-shape.ts'
import type { WebhookEvent } from './webhook.ts'

/** A batch in the v3 shape, to the octet as the recorded ones are written (v3 contract 9). */
export function v3Body(events: readonly Event[]): string {
  const objects = events.flatMap((event) => v3Object(event) ?? [])
  const text = objects.map((object) => JSON.stringify(object)).join(',\r\n')
  return `[${text.replaceAll('<', '\\u003c').replaceAll('>', '\\u003e')}]\r\n`
}

function v3Object({ id, type, detail, delivery, occurredAt }: Event): Record<string, unknown> | undefined {
  if (type === 'domain' || !delivery) return undefined
  const left = type === 'unsubscribed' && detail.group !== undefined
  const name = left ? 'group_unsubscribe' : eventName(type, 'v3')
  if (name === null) return undefined
  const told: Record<string, unknown> = {
    email: delivery.recipient,
    timestamp: Math.floor(occurredAt.getTime() / 1000),
    'smtp-id': smtpId(delivery),
    event: name,
    ...(delivery.tags.length > 0 ? { category: [...delivery.tags] } : {}),
    sg_event_id: eventId(id),
    sg_message_id: `${delivery.messageId}.${delivery.recipientNo}`,
    ...groupOf(left ? detail.group : delivery.group),
    ...ownValues(type, detail, delivery),
  }
  // What the sender wants to hear goes beside ours, and not in its place.
  for (const [name, value] of Object.entries(delivery.customArgs ?? {})) {
    if (!Object.hasOwn(told, name)) {
      Object.defineProperty(told, name, { value, enumerable: true, configurable: true, writable: true })
    }
  }
  return told
}

function groupOf(group: number | null | undefined): Record<string, unknown> {
  return group ? { asm_group_id: group } : {}
}

/** The Message-ID that the service gives. */
function smtpId({ messageId, from }: EventDelivery): string {
  return `<${messageId}@${from.slice(from.lastIndexOf('@') + 1)}>`
}

const DROPPED: Readonly<Record<string, string>> = {
  unsubscribe: 'Unsubscribed Address',
  hardbounce: 'Bounced Address',
  abuse: 'Spam Reporting Address',
  instructions: 'Invalid SMTPAPI header',
  template: 'Invalid SMTPAPI header',
  rendering: 'Invalid SMTPAPI header',
}

const CLASSES: Readonly<Record<string, string>> = {
  'bad-mailbox': 'Invalid Address',
  'bad-domain': 'Invalid Address',
  'mailbox-full': 'Mailbox Unavailable',
  'mailbox-inactive': 'Mailbox Unavailable',
  'too-large': 'Content',
  policy: 'Reputation',
  spam: 'Reputation',
  authentication: 'Reputation',
  rate: 'Frequency or Volume Too High',
  relay: 'Technical Failure',
  protocol: 'Technical Failure',
  network: 'Technical Failure',
}

function ownValues(type: WebhookEvent, detail: EventDetail, delivery: EventDelivery): Record<string, unknown> {
  const { ip, userAgent, url, machine, enhanced, attempt } = detail
  const reader = { ...(userAgent === undefined ? {} : { useragent: userAgent }), ...(ip === undefined ? {} : { ip }) }
  switch (type) {
    case 'sent':
      return { response: replyLine(detail) }
    case 'deferred':
      return {
        response: replyLine(detail),
        attempt: String(attempt ?? 1),
        domain: delivery.recipient.slice(delivery.recipient.lastIndexOf('@') + 1),
      }
    case 'bounced':
    case 'expired':
      return {
        reason: replyLine(detail),
        ...(enhanced ? { status: enhanced } : {}),
        // A block may pass; a bounce is an address that nobody has.
        type: type === 'bounced' && CLASSES[detail.class ?? ''] === 'Invalid Address' ? 'bounce' : 'blocked',
        bounce_classification: CLASSES[detail.class ?? ''] ?? 'Unclassified',
      }
    case 'dropped':
      return { reason: DROPPED[detail.reason ?? ''] ?? 'Unsubscribed Address', status: '5.0.0' }
    case 'invalid':
      return { reason: 'Invalid', status: '5.0.0' }
    case 'opened':
      return { ...reader, sg_machine_open: machine !== undefined, sg_content_type: 'html' }
    case 'clicked':
      return { ...reader, url: url ?? '' }
    default:
      return reader
  }
}
