import { isAscii } from 'node:buffer'
import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { messageDate } from '../../composition/compose.ts'
import { rawField, textField } from '../../mime/header.ts'
import { messageIdText } from '../../submission/message-id.ts'
import { dropText, replyText } from '../events/index.ts'
import type { DueNotification, NotifiedAction, NotifiedDelivery } from './queue.ts'

export interface ComposedNotification {
  readonly due: DueNotification
  readonly delivery: NotifiedDelivery
  readonly from: string
  /** The name of the service (Reporting-MTA). */
  readonly host: string
  /** The message as it was sent to the recipient; undefined if it is no longer stored. */
  readonly original: Buffer | undefined
}

export const SUBJECTS: Readonly<Record<NotifiedAction, string>> = {
  failed: 'Undelivered mail returned to sender',
  delayed: 'Delayed mail: delivery is still being tried',
  relayed: 'Mail delivered to the next server',
}

/** Bytes of a returned message. */
const MAX_RETURNED = 1024 * 1024
/** Characters of a reply in the notification. */
const MAX_REPLY = 1000

/** Returns the notification (RFC 3464, RFC 6522), without Date and Message-ID. */
export function composeNotification(notification: ComposedNotification): Buffer {
  const { due, delivery, from, original } = notification
  const { action } = due
  const boundary = `report-${createHash('sha256')
    .update(`${due.messageId} ${due.recipientNo} ${due.id}`)
    .digest('hex')
    .slice(0, 32)}`
  const head = [
    `From: Mail Delivery System <${from}>\r\n`,
    `To: <${delivery.wanted.to}>\r\n`,
    textField('Subject', SUBJECTS[action]),
    'Auto-Submitted: auto-replied\r\n',
    'MIME-Version: 1.0\r\n',
    `Content-Type: multipart/report; report-type=delivery-status;\r\n boundary="${boundary}"\r\n`,
    '\r\n',
  ]
  const text = [
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
    '',
    ...textOf(notification),
  ]
  const status = ['Content-Type: message/delivery-status', '', statusOf(notification)]
  const parts = [Buffer.from(text.join('\r\n')), Buffer.from(status.join('\r\n')), returned(notification, original)]
  return Buffer.concat([
    Buffer.from(head.join('')),
    ...parts.flatMap((part) => [Buffer.from(`--${boundary}\r\n`), part, Buffer.from('\r\n')]),
    Buffer.from(`--${boundary}--\r\n`),
  ])
}

function textOf({ due: { action, occurredAt, messageId }, delivery, host }: ComposedNotification): string[] {
  const { recipient, subject, acceptedAt, expiresAt } = delivery
  const reason = `    ${reasonOf(delivery)}`
  const about = [
    '',
    `Subject: ${line(subject)}`,
    `Accepted: ${acceptedAt.toISOString()}`,
    `Message: ${messageIdText(messageId)}`,
    '',
  ]
  const sentences: Record<NotifiedAction, string[]> = {
    failed: [
      `${host} could not deliver your message to:`,
      '',
      `  <${recipient}>`,
      reason,
      ...about,
      'It is not tried again.',
    ],
    delayed: [
      `${host} could not yet deliver your message to:`,
      '',
      `  <${recipient}>`,
      reason,
      ...about,
      `It is tried again${expiresAt ? ` until ${expiresAt.toISOString()}` : ''}. You need not send it again.`,
    ],
    relayed: [
      `Your message to <${recipient}> was accepted by the next server at ${occurredAt.toISOString()}:`,
      '',
      reason,
      ...about,
      'You get no further notification of it, unless that server reports a failure.',
    ],
  }
  return [...sentences[action], '']
}

/** The fields for the message, and those for the recipient (RFC 3464 2.2, 2.3). */
function statusOf({ due: { action, occurredAt }, delivery, host }: ComposedNotification): string {
  const { wanted, acceptedAt, recipient, originalRecipient, detail, expiresAt } = delivery
  const message = [
    ...(wanted.envelopeId === undefined ? [] : [field('Original-Envelope-Id', wanted.envelopeId)]),
    field('Reporting-MTA', `dns; ${host}`),
    field('Arrival-Date', messageDate(acceptedAt)),
  ]
  const diagnostic = detail?.code === undefined ? undefined : `smtp; ${replyText(detail)}`
  const own = [
    ...(originalRecipient === null ? [] : [field('Original-Recipient', typed(originalRecipient))]),
    field('Final-Recipient', typed(`rfc822;${recipient}`)),
    field('Action', action),
    field('Status', statusCode(delivery)),
    ...(detail?.host ? [field('Remote-MTA', `dns; ${mtaName(detail.host)}`)] : []),
    ...(diagnostic === undefined ? [] : [field('Diagnostic-Code', diagnostic)]),
    field('Last-Attempt-Date', messageDate(occurredAt)),
    ...(action === 'delayed' && expiresAt ? [field('Will-Retry-Until', messageDate(expiresAt))] : []),
  ]
  return `${message.join('')}\r\n${own.join('')}`
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

function reasonOf({ type, detail }: NotifiedDelivery): string {
  if (type === 'invalid') return 'The address is not valid.'
  if (type === 'dropped') return `${dropText(detail?.reason)}.`
  const said = line(replyText(detail ?? {}))
  const host = detail?.host ? `${detail.host}: ` : ''
  return type === 'expired' ? `No attempt succeeded in time. The last one: ${host}${said}` : `${host}${said}`
}

/** The message if RET=FULL says so, or its header (RFC 3461 6.2). */
function returned(
  { due: { action }, delivery: { wanted } }: ComposedNotification,
  original: Buffer | undefined,
): Buffer {
  if (!original) return Buffer.from('Content-Type: text/plain\r\n\r\nThe message is no longer stored.\r\n')
  const end = original.indexOf('\r\n\r\n')
  const header = end === -1 ? original : original.subarray(0, end + 2)
  const isGlobal = !isAscii(header)
  const isWhole = action === 'failed' && wanted.full === true && original.length <= MAX_RETURNED
  const type = isWhole
    ? isGlobal
      ? 'message/global'
      : 'message/rfc822'
    : isGlobal
      ? 'message/global-headers'
      : 'text/rfc822-headers'
  const content = isWhole ? original : header
  const encoding = isAscii(content) ? '' : 'Content-Transfer-Encoding: 8bit\r\n'
  return Buffer.concat([Buffer.from(`Content-Type: ${type}\r\n${encoding}\r\n`), content])
}

function field(name: string, value: string): string {
  return rawField(name, ascii(line(value)))
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

function line(text: string): string {
  return text
    .replace(/[\x00-\x1f\x7f-\x9f\s]+/g, ' ')
    .trim()
    .slice(0, MAX_REPLY)
    .toWellFormed()
}

const ascii = (text: string): string => text.replace(/[^ -~]/g, '?')
