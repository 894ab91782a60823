import { isUtf8 } from 'node:buffer'
import { parseAddress } from '../address.ts'
import { fileNameParameter, mailboxField, ownField } from '../header.ts'
import { readMailboxes } from '../mailboxes.ts'
import { parametersIn } from '../read.ts'

/** Octets of the longest field that is written again. */
const MAX_LENGTH = 32 * 1024
/** Fields of addresses (RFC 5322 3.6.2, 3.6.3, 3.6.6). */
const ADDRESSES = /^(?:resent-)?(?:from|sender|reply-to|to|cc)$/i
const PARAMETERS = /^content-(?:type|disposition)$/i

/**
 * Returns a header field in ASCII, for servers without SMTPUTF8: text as encoded words (RFC 2047), domains as A-labels (RFC 5890), file names by
 * RFC 2231. Undefined if that is impossible: a local part beyond ASCII, text of an unknown charset, or more than 32 KiB.
 *
 * `field` is the field with its CRLF, one character per octet.
 */
export function asciiField(field: string): string | undefined {
  if (isAscii(field)) return field
  if (field.length > MAX_LENGTH) return undefined
  const octets = Buffer.from(field, 'latin1')
  if (!isUtf8(octets)) return undefined
  const text = octets.toString().replaceAll('\r\n', '')
  const colon = text.indexOf(':')
  const name = text.slice(0, colon).trimEnd()
  const value = text.slice(colon + 1).trim()
  if (ADDRESSES.test(name)) return asciiAddresses(name, value)
  if (PARAMETERS.test(name)) return asciiParameters(name, value)
  return ownField(name, value.replace(/\p{Cc}/gu, ' '))
}

/** Groups and what else is not a plain list of mailboxes cannot be written again. */
function asciiAddresses(name: string, value: string): string | undefined {
  const { mailboxes, plain } = readMailboxes(value)
  if (!plain || mailboxes.length === 0) return undefined
  const written = mailboxes.map(({ name, email }) => ({ name, address: parseAddress(email) }))
  const ascii = written.flatMap(({ name, address }) =>
    address && !address.utf8 ? [{ name, address: address.text }] : [],
  )
  return ascii.length === written.length ? mailboxField(name, ascii) : undefined
}

function isAscii(text: string): boolean {
  return /^[\x00-\x7f]*$/.test(text)
}

/** Parameters other than names cannot be written: they are left out. */
function asciiParameters(name: string, value: string): string {
  const parameter = name.toLowerCase() === 'content-type' ? 'name' : 'filename'
  const [essence = ''] = value.split(';', 1)
  const written = [...parametersIn(value)].flatMap(([key, text]) => {
    if (key === parameter) return [fileNameParameter(parameter, text)]
    return isAscii(text) ? [`${key}="${text.replace(/["\\]/g, '\\$&')}"`] : []
  })
  return `${name}: ${[essence.replace(/[^\x20-\x7e]/g, '').trim(), ...written].join(';\r\n ')}\r\n`
}
