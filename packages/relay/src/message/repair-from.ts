import { mailboxField, parseAddress, readable } from '@postrider/core'
import type { Field } from './header.ts'

/** Maximum length of a value; longer ones are not a name that lacks quotes. */
const MAX_LENGTH = 998

/**
 * Returns the header with a repaired From field. In `John Doe, Inc. <a@b.example>` the name lacks its quotes (RFC 5322 3.2.3, 3.4);
 * many programs write it this way, and submission servers correct it (RFC 6409 8). Undefined if there is nothing to correct, or if the
 * name may be another address.
 */
export function withRepairedFrom(header: Buffer, fields: readonly Field[]): Buffer | undefined {
  const found = fields.filter(({ name }) => name === 'from')
  const [from] = found
  const mailbox = found.length === 1 && from ? unquotedMailbox(from.value) : undefined
  if (!from || !mailbox) return undefined
  return Buffer.concat([
    header.subarray(0, from.start),
    Buffer.from(mailboxField('From', [mailbox])),
    header.subarray(from.end),
  ])
}

function unquotedMailbox(value: string): { name: string; address: string } | undefined {
  const open = value.lastIndexOf('<')
  if (open === -1 || !value.endsWith('>') || value.length > MAX_LENGTH) return undefined
  const address = value.slice(open + 1, -1).trim()
  const phrase = value.slice(0, open).trim()
  // Quotes, brackets and comments may contain anything. Only these characters require quotes.
  if (!/[@,;:[\]]/.test(phrase) || /[<>"()\\]/.test(phrase) || !parseAddress(address)) return undefined
  const isOther = (word: string): boolean => word.toLowerCase() !== address.toLowerCase() && Boolean(parseAddress(word))
  if (phrase.split(/[\s,;:]+/).some(isOther)) return undefined
  return { name: readable(phrase), address }
}
