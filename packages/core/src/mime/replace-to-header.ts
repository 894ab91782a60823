import { endOfField } from './end-of-field.ts'
import { type Mailbox, mailboxField } from './header.ts'

const EMPTY_LINE = '\r\n\r\n'

/**
 * Replaces the first To field by one with this mailbox and removes the other To fields. All other octets are unchanged.
 */
export function replaceToHeader(message: Buffer, mailbox: Mailbox): Buffer {
  const end = message.indexOf(EMPTY_LINE)
  const head = message.toString('latin1', 0, end === -1 ? message.length : end + 2)
  const field = Buffer.from(mailboxField('To', [mailbox]))
  const old = toFields(head)
  // Without a To field, the new one is inserted after our own trace field.
  if (old.length === 0) old.push({ start: endOfField(head, 0), end: endOfField(head, 0) })
  const out: Buffer[] = []
  let at = 0
  for (const [number, { start, end }] of old.entries()) {
    out.push(message.subarray(at, start))
    if (number === 0) out.push(field)
    at = end
  }
  out.push(message.subarray(at))
  return Buffer.concat(out)
}

function toFields(head: string): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = []
  for (let start = 0; start < head.length; ) {
    const end = endOfField(head, start)
    if (/^to[ \t]*:/i.test(head.slice(start, start + 80))) found.push({ start, end })
    start = end
  }
  return found
}
