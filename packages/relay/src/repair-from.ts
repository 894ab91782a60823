import { mailboxField, parseAddress, readable } from '@postrider/core'
import type { Field } from './header.ts'

/** What is longer is no name that somebody forgot to quote. */
const LONGEST = 998

/**
 * The header with a From field that can be read: `John Doe, Inc. <a@b.example>` lacks the quotes around its name (RFC 5322 3.2.3, 3.4),
 * as many programs write it and submission servers mend it (RFC 6409 8). Undefined: there is nothing to mend, or the name may be another
 * address.
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
  if (open === -1 || !value.endsWith('>') || value.length > LONGEST) return undefined
  const address = value.slice(open + 1, -1).trim()
  const phrase = value.slice(0, open).trim()
  // In quotes, brackets and comments anything may stand; without the characters that want quotes there is nothing to mend.
  if (!/[@,;:[\]]/.test(phrase) || /[<>"()\\]/.test(phrase) || !parseAddress(address)) return undefined
  const isOther = (word: string): boolean => word.toLowerCase() !== address.toLowerCase() && Boolean(parseAddress(word))
  if (phrase.split(/[\s,;:]+/).some(isOther)) return undefined
  return { name: readable(phrase), address }
}
