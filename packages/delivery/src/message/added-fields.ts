import { createHash } from 'node:crypto'
import { type ClaimedDelivery, DELIVERY_CLASSES, type LoadedMessage } from '@postrider/core'

/** A message that already has one. */
const FEEDBACK_ID = /^feedback-id[ \t]*:/im
const HEADERS_END = Buffer.from('\r\n\r\n')

export interface FieldsOptions {
  /** The delivery's mark for complaints. */
  readonly reference: string
  /** The last part of Feedback-ID, which names this installation. */
  readonly feedbackSender: string
}

/**
 * The header fields that are added to a message when it is sent, with CRLF; DKIM covers them. `X-PR-Ref` is how a complaint finds its delivery:
 * providers cut addresses out of the messages they return, but not this field. By `Feedback-ID` Gmail counts complaints: the first tag as a
 * hash, the class and the account, and never a message or recipient, of which there would be too many.
 */
export function addedFields(
  { tags, accountId }: Pick<LoadedMessage, 'tags' | 'accountId'>,
  { class: of }: Pick<ClaimedDelivery, 'class'>,
  rendered: Buffer,
  { reference, feedbackSender }: FieldsOptions,
): string {
  const end = rendered.indexOf(HEADERS_END)
  const head = rendered.toString('latin1', 0, end === -1 ? rendered.length : end)
  const own = `X-PR-Ref: ${reference}\r\n`
  if (FEEDBACK_ID.test(head)) return own
  const [tag] = tags
  const stream = tag === undefined ? 'untagged' : `t${createHash('sha256').update(tag).digest('hex').slice(0, 12)}`
  return `${own}Feedback-ID: ${stream}:${DELIVERY_CLASSES[of]}:a${accountId}:${feedbackSender}\r\n`
}
