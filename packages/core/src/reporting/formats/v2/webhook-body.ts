import type { BounceClass } from '../../../delivery/outcomes/bounce-rules.ts'
import type { Event, EventDelivery } from '../../../events/event.ts'
import type { EventDetail } from '../../../events/event-detail.ts'
import { eventType, isOfAccount, isWebhookEvent, type WebhookEvent } from '../../../events/event-types.ts'
import { defined } from '../../../platform/defined.ts'
import { dropText, isHardBounce, replyLine } from '../../events/texts.ts'
import { eventName } from '../../webhooks/names.ts'
import type { WebhookSettings } from '../../webhooks/webhook.ts'

export interface V2Options extends Pick<WebhookSettings, 'asText' | 'abuse' | 'eventIds'> {
  /** Whether to include opens and clicks by machines, marked. Default false, because v2 receivers would count them as human. */
  readonly machines?: boolean
}

/** A member of an event; METADATA is an object. */
export type V2Value = string | number | Readonly<Record<string, string>>

/** BOUNCE_REASONID and BOUNCE_REASON. The contract does not define the numbers; these are Postrider's own and never change. */
export const BOUNCE_REASONS: Readonly<Record<BounceClass, readonly [id: number, text: string]>> = {
  'bad-mailbox': [1, 'bad address'],
  'bad-domain': [2, 'bad domain'],
  'mailbox-full': [3, 'mailbox full'],
  'mailbox-inactive': [4, 'mailbox inactive'],
  'too-large': [5, 'message too large'],
  policy: [6, 'refused by policy'],
  spam: [7, 'taken for spam'],
  authentication: [8, 'sender not authenticated'],
  rate: [9, 'too much mail'],
  relay: [10, 'relaying denied'],
  protocol: [11, 'protocol error'],
  network: [12, 'network error'],
  other: [13, 'other'],
  expired: [14, 'no delivery in time'],
  filtered: [15, 'refused by a filter'],
  moved: [16, 'address has moved'],
  'not-accepting': [17, 'domain accepts no mail'],
  system: [18, 'error of the server'],
}

/** Returns a batch in the v2 format: a JSON array (v2 contract 16.3). */
export function v2Body(events: readonly Event[], options: V2Options): string {
  return `[${events.flatMap((event) => v2Object(event, options) ?? []).join(',')}]`
}

/** Returns an event as JSON text, because TRANSID may exceed the precision of a double; undefined if v2 does not report it. */
function v2Object(event: Event, options: V2Options): string | undefined {
  const { id, type, detail, delivery, occurredAt } = event
  if (isWebhookEvent(type) && isOfAccount(type)) return accountObject(event, options)
  if (!isWebhookEvent(type) || !delivery) return undefined
  const name = eventName(type, 'v2')
  if (name === null) return undefined
  if (detail.machine !== undefined && !options.machines) return undefined
  const byRecipient = eventType(type).byReader
  const dropped = type === 'dropped' || type === 'invalid'
  const labels = { 'X-APIHEADER': delivery.reference ?? '', TAGS: delivery.tags.join(',') }
  const values: Record<string, V2Value> = {
    RESPONSE: byRecipient ? '' : responseOf(type, detail),
    EMAIL: delivery.recipient,
    TIMESTAMP: Math.floor(occurredAt.getTime() / 1000),
    FROMADDRESS: delivery.from,
    EVENT: name === 'spam' && options.abuse ? 'abuse' : name,
    // No message was built for these.
    MSIZE: dropped ? 0 : delivery.size,
    ...(byRecipient ? recipientValues(type, detail, delivery) : labels),
    ...(name === 'bounced' ? bounceValues(type, detail) : {}),
    ...(options.eventIds ? { EVENTID: eventId(id) } : {}),
    ...defined({ METADATA: delivery.customArgs ?? undefined, MACHINE: detail.machine }),
  }
  const number = delivery.transactionNumber
  const transaction = options.asText ? JSON.stringify(number) : number
  const rest = Object.entries(values).map(
    ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(options.asText ? textOf(value) : value)}`,
  )
  return `{"TRANSID":${transaction},${rest.join(',')}}`
}

function textOf(value: V2Value): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** An event of the account, which has no recipient. */
function accountObject({ id, type, detail, occurredAt }: Event, { asText, eventIds }: V2Options): string {
  const seconds = Math.floor(occurredAt.getTime() / 1000)
  const values = type === 'account' ? standingValues(detail, asText) : upperCased(detail, asText)
  return JSON.stringify({
    EVENT: eventType(type).v2,
    TIMESTAMP: asText ? String(seconds) : seconds,
    ...values,
    ...(eventIds ? { EVENTID: eventId(id) } : {}),
  })
}

function standingValues(detail: EventDetail, asText: boolean): Record<string, unknown> {
  const { rule = '', before = '', after = '', classes = [], figures = {} } = detail
  return {
    RULE: rule,
    BEFORE: before,
    AFTER: after,
    CLASSES: classes.join(','),
    FIGURES: asText ? JSON.stringify(figures) : figures,
  }
}

function upperCased(detail: EventDetail, asText: boolean): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(detail).map(([name, value]) => [name.toUpperCase(), asText ? String(value) : value]),
  )
}

/** Fields in the order of recorded events, which differs from that of other events. */
function recipientValues(type: WebhookEvent, detail: EventDetail, delivery: EventDelivery): Record<string, string> {
  return {
    USERAGENT: detail.userAgent ?? '',
    TAGS: delivery.tags.join(','),
    'X-APIHEADER': delivery.reference ?? '',
    IPADDRESS: detail.ip ?? '',
    ...(type === 'clicked' ? { URL: detail.url ?? '' } : {}),
  }
}

function bounceValues(type: WebhookEvent, detail: EventDetail): Record<string, string | number> {
  const known = BOUNCE_REASONS[(detail.class ?? 'other') as BounceClass] ?? BOUNCE_REASONS.other
  const [id, text] = type === 'expired' ? BOUNCE_REASONS.expired : known
  const hard = type === 'bounced' && isHardBounce(detail.class)
  return { BOUNCE_TYPE: hard ? 'HARDBOUNCE' : 'SOFTBOUNCE', BOUNCE_REASON: text, BOUNCE_REASONID: id }
}

function responseOf(type: WebhookEvent, detail: EventDetail): string {
  if (type === 'invalid') return dropText('invalid')
  if (type === 'dropped') return dropText(detail.reason)
  const reply = replyLine(detail)
  return type === 'sent' ? `smtp;${reply}` : reply
}

/** Returns the event's id, which is the same for every attempt and format. */
export function eventId(id: string): string {
  return `evt_${id}`
}
