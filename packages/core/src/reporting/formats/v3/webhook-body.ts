import type { Event, EventDelivery } from '../../../events/event.ts'
import type { EventDetail } from '../../../events/event-detail.ts'
import { eventType, isOfAccount, isWebhookEvent, type WebhookEvent } from '../../../events/event-types.ts'
import { defined } from '../../../platform/defined.ts'
import { shortMessageId } from '../../../submission/message-id.ts'
import { isHardBounce, replyLine } from '../../events/texts.ts'
import { nameOf } from '../../webhooks/names.ts'
import { eventId } from '../v2/webhook-body.ts'
import { classificationOf } from './bounce-classifications.ts'

/** Returns a batch in the v3 format, byte for byte as in recorded requests (v3 contract 9). */
export function v3Body(events: readonly Event[]): string {
  const objects = events.flatMap((event) => v3Object(event) ?? [])
  const text = objects.map((object) => JSON.stringify(object)).join(',\r\n')
  return `[${text.replaceAll('<', '\\u003c').replaceAll('>', '\\u003e')}]\r\n`
}

function v3Object({ id, type, detail, delivery, occurredAt }: Event): Record<string, unknown> | undefined {
  if (isWebhookEvent(type) && isOfAccount(type)) return accountObject({ id, type, detail, occurredAt })
  const name = nameOf({ type, detail }, 'v3')
  if (!isWebhookEvent(type) || !delivery || name === null) return undefined
  const group = detail.group ?? delivery.group
  const values: Record<string, unknown> = {
    email: delivery.recipient,
    timestamp: Math.floor(occurredAt.getTime() / 1000),
    'smtp-id': smtpId(delivery),
    event: name,
    ...(delivery.tags.length > 0 ? { category: [...delivery.tags] } : {}),
    sg_event_id: eventId(id),
    sg_message_id: `${shortMessageId(delivery.messageId)}.recvd-0.${delivery.recipientNo}`,
    ...(group === null ? {} : { asm_group_id: group }),
    ...(delivery.template ? templateValues(delivery.template) : {}),
    ...(delivery.pool === null ? {} : { pool: { name: delivery.pool } }),
    ...ownValues(type, detail, delivery),
  }
  // The sender's custom arguments do not replace the standard fields.
  for (const [name, value] of Object.entries(delivery.customArgs ?? {})) {
    if (!Object.hasOwn(values, name)) {
      Object.defineProperty(values, name, { value, enumerable: true, configurable: true, writable: true })
    }
  }
  return values
}

/** An event of the account, which has no recipient. */
function accountObject({ id, type, detail, occurredAt }: Omit<Event, 'number' | 'delivery'>): Record<string, unknown> {
  const timestamp = Math.floor(occurredAt.getTime() / 1000)
  const common = { event: eventType(type).v3, timestamp, sg_event_id: eventId(id) }
  if (type !== 'account') return { ...common, ...detail }
  const { rule, before, after, classes = [], figures = {} } = detail
  return { ...common, rule, before, after, classes, figures }
}

function templateValues({ id, name }: NonNullable<EventDelivery['template']>): Record<string, string> {
  return { sg_template_id: id, ...defined({ sg_template_name: name }) }
}

/** Returns the Message-ID; for relayed mail, the one that this service adds if there is none. */
function smtpId({ messageId, ownMessageId, envelope, from }: EventDelivery): string {
  const id = envelope === null ? messageId : `${messageId}.${envelope}`
  return ownMessageId ?? `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`
}

const DROPPED: Readonly<Record<string, string>> = {
  unsubscribe: 'Unsubscribed Address',
  hardbounce: 'Bounced Address',
  abuse: 'Spam Reporting Address',
  instructions: 'Invalid SMTPAPI header',
  template: 'Invalid SMTPAPI header',
  rendering: 'Invalid SMTPAPI header',
  cancelled: 'Cancelled',
  operator: 'Cancelled',
  forgotten: 'Forgotten',
  'domain-lost': 'Sending Domain Lost',
}

/** Events have a different name for this classification than lists (v3 contract 9.2). */
function classificationInEvents(bounceClass: string | undefined): string {
  const name = classificationOf(bounceClass)
  return name === 'Technical Failure' ? 'Technical' : name
}

function ownValues(type: WebhookEvent, detail: EventDetail, delivery: EventDelivery): Record<string, unknown> {
  const { ip, userAgent, url, link, machine, enhanced, attempt, host } = detail
  const session = {
    ...defined({ ip: delivery.sourceAddress ?? undefined }),
    ...(host === undefined ? {} : { tls: detail.tls === undefined ? 0 : 1 }),
  }
  const client = { ...defined({ useragent: userAgent, ip }) }
  switch (type) {
    case 'processed':
      return delivery.scheduledAt ? { send_at: Math.floor(delivery.scheduledAt.getTime() / 1000) } : {}
    case 'sent':
      return { response: replyLine(detail), ...session }
    case 'deferred':
      return {
        response: replyLine(detail),
        attempt: String(attempt ?? 1),
        domain: delivery.recipient.slice(delivery.recipient.lastIndexOf('@') + 1),
        ...session,
      }
    case 'bounced':
    case 'expired':
      return {
        reason: replyLine(detail),
        ...(enhanced ? { status: enhanced } : {}),
        // A block is temporary; a bounce means that the address does not exist.
        type: type === 'bounced' && isHardBounce(detail.class) ? 'bounce' : 'blocked',
        bounce_classification: classificationInEvents(detail.class),
        ...session,
      }
    case 'dropped':
      return {
        reason: DROPPED[detail.reason ?? ''] ?? 'Unsubscribed Address',
        status: '5.0.0',
        ...defined({ problem: detail.problem }),
      }
    case 'invalid':
      return { reason: 'Invalid', status: '5.0.0' }
    case 'opened':
      return { ...client, sg_machine_open: machine !== undefined, sg_content_type: 'html' }
    case 'clicked':
      return { ...client, url: url ?? '', ...(link === undefined ? {} : { url_offset: { index: link } }) }
    default:
      return client
  }
}
