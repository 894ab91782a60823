import type { ContentDocument } from '../../composition/content.ts'
import { listOf, OF_ENVELOPE, type RecipientData } from '../../composition/recipient-data.ts'
import { addressKey, parseAddress } from '../../mime/address.ts'
import { endOfField } from '../../mime/end-of-field.ts'
import { invalidParameter } from '../../platform/errors.ts'

/** The differences of the copy of a message that is sent again. */

export interface OriginalDelivery {
  readonly recipientNo: number
  readonly recipient: string
  readonly kind: 'to' | 'cc' | 'bcc'
  readonly reference: string | null
  readonly personal: RecipientData | null
  readonly reason: string | null
}

/** The address that replaces the one to which the message was sent. */
export interface Correction {
  readonly from: string
  readonly to: string
}

/** Throws parameterInvalid (`to`, `recipients`). */
export function correctionOf(written: string, deliveries: readonly OriginalDelivery[]): Correction {
  const address = parseAddress(written.trim())
  if (!address) throw invalidParameter('to', 'must be an email address')
  const [first, ...others] = deliveries
  if (!first || others.length > 0)
    throw invalidParameter('recipients', 'must be the number of one recipient, whose address is replaced by [to]')
  return { from: first.recipient, to: address.text }
}

/** The delivery with the corrected address, also in the lists of its header. `first`: part 0 of the message. */
export function correctedDelivery(
  delivery: OriginalDelivery,
  { from, to }: Correction,
  first: Buffer | undefined,
): OriginalDelivery {
  const old = addressKey(from)
  const replaced = (address: string) => (addressKey(address) === old ? to : address)
  const { personal } = delivery
  if (!personal) return { ...delivery, recipient: to }
  // ORCPT (RFC 3461) is the address that the sender gave for the old one.
  const { originalRecipient: _original, ...own } = personal
  const isShared = own.to === OF_ENVELOPE && first !== undefined
  const kept = isShared ? { ...own, ...listOf(JSON.parse(first.toString()) as ContentDocument, own) } : own
  const data: RecipientData = {
    ...kept,
    ...(Array.isArray(kept.to) ? { to: kept.to.map(replaced) } : {}),
    ...(kept.cc ? { cc: kept.cc.map(replaced) } : {}),
    ...(kept.ownTo ? { ownTo: { ...kept.ownTo, address: replaced(kept.ownTo.address) } } : {}),
    ...(kept.names
      ? { names: Object.fromEntries(Object.entries(kept.names).map(([address, name]) => [replaced(address), name])) }
      : {}),
  }
  return { ...delivery, recipient: to, personal: data }
}

/** The fields of the header that the new message has of its own. */
const REPLACED: ReadonlySet<string> = new Set(['date', 'message-id'])
const RECIPIENTS: ReadonlySet<string> = new Set(['to', 'cc'])

/**
 * Returns a MIME message without the trace field that this service added to it first, and without Date and Message-ID; in To and Cc with the corrected
 * address. With a signature of its sender's these stay as they are: it would not be valid any longer (RFC 6376 5.4).
 */
export function newHeader(message: Buffer, correction: Correction | undefined): Buffer {
  const end = message.indexOf('\r\n\r\n')
  const head = message.toString('latin1', 0, end === -1 ? message.length : end + 2)
  const isSigned = /^dkim-signature[ \t]*:/im.test(head)
  const kept: string[] = []
  for (let at = head.startsWith('Received:') ? endOfField(head, 0) : 0; at < head.length; ) {
    const next = endOfField(head, at)
    const field = head.slice(at, next)
    const name = field.slice(0, field.indexOf(':')).trim().toLowerCase()
    if (!REPLACED.has(name))
      kept.push(correction && !isSigned && RECIPIENTS.has(name) ? correctedField(field, correction) : field)
    at = next
  }
  return Buffer.concat([Buffer.from(kept.join(''), 'latin1'), message.subarray(head.length)])
}

/** Characters of an address, next to which a found text is a part of another one. */
const OF_ADDRESS = /[\w.+\-@!#$%&'*/=?^`{|}~\x80-\xff]/

/** The field, whose letters are octets, with the corrected address wherever it has the old one. */
function correctedField(field: string, { from, to }: Correction): string {
  const old = Buffer.from(from).toString('latin1').toLowerCase()
  const lower = field.toLowerCase()
  let out = ''
  let at = 0
  for (let found = lower.indexOf(old); found !== -1; found = lower.indexOf(old, found + old.length)) {
    const isPart = OF_ADDRESS.test(field[found - 1] ?? '') || OF_ADDRESS.test(field[found + old.length] ?? '')
    out +=
      field.slice(at, found) + (isPart ? field.slice(found, found + old.length) : Buffer.from(to).toString('latin1'))
    at = found + old.length
  }
  return out + field.slice(at)
}
