import { isIP } from 'node:net'
import { messageDate } from '../../composition/compose.ts'
import type { EventDetail } from '../../events/event-detail.ts'
import { broken } from '../../mime/conformance/transfer-encoding.ts'
import { rawField } from '../../mime/header.ts'
import { dropText, replyText } from '../events/index.ts'
import type { DueNotification, NotifiedDelivery } from './queue.ts'

export interface ReportedDelivery {
  readonly due: DueNotification
  readonly delivery: NotifiedDelivery
  /** The name of the service (Reporting-MTA). */
  readonly host: string
}

/** Characters of a reply or subject. */
const MAX_TEXT = 1000
/** Characters of a word in a field, which with the longest name is no line beyond 998. */
const MAX_WORD = 900

/** Returns the fields for the message, and those for the recipient (RFC 3464 2.2, 2.3), in ASCII and in lines that any server carries. */
export function statusFields({ due: { action, occurredAt }, delivery, host }: ReportedDelivery): string {
  const { wanted, acceptedAt, recipient, originalRecipient, expiresAt } = delivery
  const message = [
    ...(wanted.envelopeId === undefined ? [] : [field('Original-Envelope-Id', wanted.envelopeId)]),
    field('Reporting-MTA', `dns; ${host}`),
    field('Arrival-Date', messageDate(acceptedAt)),
  ]
  const own = [
    ...(originalRecipient === null ? [] : [field('Original-Recipient', typed(originalRecipient))]),
    field('Final-Recipient', typed(`rfc822;${recipient}`)),
    field('Action', action),
    field('Status', statusCode(delivery)),
    ...diagnosis(delivery),
    field('Last-Attempt-Date', messageDate(occurredAt)),
    ...(action === 'delayed' && expiresAt ? [field('Will-Retry-Until', messageDate(expiresAt))] : []),
  ]
  return `${message.join('')}\r\n${own.join('')}`
}

/** Why a message was not offered to any server; undefined if it was. */
export function ownReason(type: NotifiedDelivery['type'], detail: EventDetail | null): string | undefined {
  if (type === 'invalid') return 'The address is not valid.'
  return type === 'dropped' ? `${dropText(detail?.reason)}.` : undefined
}

/** Whether a host said it; otherwise the words are those of this service. */
export function isReply(detail: EventDetail | null): detail is EventDetail {
  return detail?.code !== undefined && detail.own === undefined
}

/** RFC 3464 2.3.5, 2.3.6: both are about the reply of another server. */
function diagnosis({ type, detail, lastReply }: NotifiedDelivery): string[] {
  const reply = isReply(detail) ? detail : lastReply
  if (!reply) {
    const own = ownReason(type, detail) ?? detail?.reply
    return own ? [field('Diagnostic-Code', `x-postrider; ${oneLine(own)}`)] : []
  }
  return [
    ...(reply.host ? [field('Remote-MTA', `dns; ${mtaName(reply.host)}`)] : []),
    field('Diagnostic-Code', `smtp; ${oneLine(replyText(reply))}`),
  ]
}

/** RFC 3463. */
function statusCode({ type, detail }: NotifiedDelivery): string {
  if (type === 'expired') return '4.4.7'
  if (type === 'invalid') return '5.1.3'
  if (type === 'dropped') return '5.7.1'
  const { enhanced, code } = detail ?? {}
  const first = type === 'sent' ? '2' : type === 'deferred' ? '4' : '5'
  // The first digit says the same as the action (RFC 3464 2.3.4); servers write `550 4.1.1`, too.
  if (enhanced !== undefined && /^[245]\.\d{1,3}\.\d{1,3}$/.test(enhanced)) return `${first}${enhanced.slice(1)}`
  return code === 552 || code === 452 ? `${first}.2.2` : `${first}.0.0`
}

function field(name: string, value: string): string {
  const words = value.replace(/[^ -~]/g, '?').split(' ')
  return rawField(name, words.map((word) => (word.length > MAX_WORD ? broken(word, ' ') : word)).join(' '))
}

/** RFC 5321 4.1.3. */
function mtaName(host: string): string {
  const version = isIP(host)
  return version === 0 ? host : `[${version === 6 ? 'IPv6:' : ''}${host}]`
}

/** `rfc822;address`, or of the type utf-8 (RFC 6533 3) if it is not ASCII: in a form that any mail system carries. */
function typed(text: string): string {
  const at = text.indexOf(';')
  const address = text.slice(at + 1)
  if (!/[^ -~]/.test(address)) return `${text.slice(0, at)}; ${address}`
  const escaped = address.replace(
    /[^!-*,-<>-[\]-~]/gu,
    (one) => `\\x{${one.codePointAt(0)?.toString(16).toUpperCase()}}`,
  )
  return `utf-8; ${escaped}`
}

/** Returns the beginning of a text on one line. */
export function oneLine(text: string): string {
  return text
    .replace(/[\x00-\x1f\x7f-\x9f\s]+/g, ' ')
    .trim()
    .slice(0, MAX_TEXT)
    .toWellFormed()
}
