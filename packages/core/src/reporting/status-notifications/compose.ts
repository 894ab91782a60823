import { createHash } from 'node:crypto'
import type { EventDetail } from '../../events/event-detail.ts'
import { encodeText } from '../../mime/encode.ts'
import { textField } from '../../mime/header.ts'
import { messageIdText } from '../../submission/message-id.ts'
import { replyText } from '../events/index.ts'
import type { NotifiedAction, NotifiedDelivery } from './queue.ts'
import { returnedMessage } from './returned-message.ts'
import { isReply, oneLine, ownReason, type ReportedDelivery, statusFields } from './status-fields.ts'

export interface ComposedNotification extends ReportedDelivery {
  readonly from: string
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
const COLUMNS = 76

/** Returns the notification (RFC 3464, RFC 6522), without Date and Message-ID. Its text and fields have only lines that any server carries. */
export function composeNotification(notification: ComposedNotification): Buffer {
  const { due, delivery, from } = notification
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
  const { encoding, text } = encodeText(textOf(notification).join('\r\n'))
  const parts = [
    Buffer.from(`Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${text}`),
    Buffer.from(`Content-Type: message/delivery-status\r\n\r\n${statusFields(notification)}`),
    returned(notification),
  ]
  return Buffer.concat([
    Buffer.from(head.join('')),
    ...parts.flatMap((part) => [Buffer.from(`--${boundary}\r\n`), part, Buffer.from('\r\n')]),
    Buffer.from(`--${boundary}--\r\n`),
  ])
}

function textOf({ due: { action, occurredAt, messageId }, delivery, host }: ComposedNotification): string[] {
  const { recipient, subject, acceptedAt, expiresAt } = delivery
  const reason = reasonOf(delivery).flatMap((text) => wrapped(text, '    '))
  const about = [
    '',
    ...wrapped(`Subject: ${oneLine(subject)}`, ''),
    `Accepted: ${acceptedAt.toISOString()}`,
    `Message: ${messageIdText(messageId)}`,
    '',
  ]
  const sentences: Record<NotifiedAction, string[]> = {
    failed: [
      delivery.detail?.late
        ? 'A server accepted your message to this address, and reported later that it could not be delivered:'
        : `${host} could not deliver your message to:`,
      '',
      `  <${recipient}>`,
      ...reason,
      ...about,
      'It is not tried again.',
    ],
    delayed: [
      `${host} could not yet deliver your message to:`,
      '',
      `  <${recipient}>`,
      ...reason,
      ...about,
      `It is tried again${expiresAt ? ` until ${expiresAt.toISOString()}` : ''}. You need not send it again.`,
    ],
    relayed: [
      `Your message to <${recipient}> was accepted by the next server at ${occurredAt.toISOString()}:`,
      '',
      ...reason,
      ...about,
      'You get no further notification of it, unless that server reports a failure.',
    ],
  }
  return [...sentences[action], '']
}

function reasonOf({ type, detail, lastReply }: NotifiedDelivery): string[] {
  const own = ownReason(type, detail)
  if (own !== undefined) return [own]
  if (type !== 'expired') return [said(detail)]
  return [
    `No attempt succeeded in time. The last one: ${said(detail)}`,
    ...(lastReply && !isReply(detail) ? [`The last reply: ${said(lastReply)}`] : []),
  ]
}

/** The reply of a host, with its name, or the words of this service. */
function said(detail: EventDetail | null): string {
  const { host, reply = '' } = detail ?? {}
  if (isReply(detail)) return `${host ? `${host}: ` : ''}${oneLine(replyText(detail))}`
  return `${oneLine(reply)}${host ? ` (${host})` : ''}`
}

/** Wraps a line at its words. A longer word stays whole, since the part is encoded. */
function wrapped(text: string, indent: string): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > COLUMNS) {
      lines.push(indent + line)
      line = word
    } else line += line === '' ? word : ` ${word}`
  }
  return [...lines, indent + line]
}

/** The message if RET=FULL says so, or its header (RFC 3461 6.2). */
function returned({ due: { action }, delivery: { wanted }, original }: ComposedNotification): Buffer {
  if (!original) return Buffer.from('Content-Type: text/plain\r\n\r\nThe message is no longer stored.\r\n')
  const isWhole = action === 'failed' && wanted.full === true && original.length <= MAX_RETURNED
  return returnedMessage(original, { isWhole })
}
