import { isUtf8 } from 'node:buffer'
import { parseAddress } from '../address.ts'
import { isAscii } from '../charset.ts'
import { fileNameParameter, mailboxField, ownField, rawField } from '../header.ts'
import { readMailboxes } from '../mailboxes.ts'
import { parameterText } from '../parameters.ts'
import { parametersIn, unreadIn } from '../read.ts'
import { readable } from '../words.ts'
import { isStructured } from './folding.ts'

/** Octets of the longest field that is written again. */
const MAX_LENGTH = 32 * 1024
/** Fields of addresses (RFC 5322 3.6.2, 3.6.3, 3.6.6). */
const ADDRESSES = /^(?:resent-)?(?:from|sender|reply-to|to|cc)$/i
const PARAMETERS = /^content-(?:type|disposition)$/i

/**
 * Returns a header field in ASCII, for servers without SMTPUTF8: text as encoded words (RFC 2047), domains as A-labels (RFC 5890), file names by
 * RFC 2231. Undefined if that is impossible: a local part beyond ASCII, a field with a syntax of its own, text of an unknown charset, or more than 32 KiB.
 *
 * `field` is the field with its CRLF, one character per octet; `fallback` the charset of text that is not UTF-8.
 */
export function asciiField(field: string, { fallback }: { readonly fallback?: string } = {}): string | undefined {
  if (isAscii(field)) return field
  const colon = field.indexOf(':')
  if (colon === -1 || field.length > MAX_LENGTH) return undefined
  const octets = Buffer.from(field, 'latin1')
  if (!isUtf8(octets) && fallback === undefined) return undefined
  const text = (isUtf8(octets) ? octets.toString() : new TextDecoder(fallback).decode(octets)).replaceAll('\r\n', '')
  const name = text.slice(0, colon).trimEnd()
  const value = text.slice(colon + 1).trim()
  if (!isAscii(name)) return undefined
  if (ADDRESSES.test(name)) return asciiAddresses(name, value)
  if (PARAMETERS.test(name)) return parametersField(name, value)
  if (!isStructured(name)) return ownField(name, readable(value))
  const bare = value.replace(/\([^()]*\)/g, (comment) => (isAscii(comment) ? comment : '')).trim()
  return isAscii(bare) && bare !== '' ? rawField(name, bare) : undefined
}

/** Groups and what else is not a plain list of mailboxes cannot be written again. */
function asciiAddresses(name: string, value: string): string | undefined {
  const { mailboxes, plain } = readMailboxes(value)
  if (!plain || mailboxes.length === 0) return undefined
  const written = mailboxes.map(({ name, email, comment = '' }) => ({
    name: name || comment,
    address: parseAddress(email),
  }))
  const ascii = written.flatMap(({ name, address }) =>
    address && !address.utf8 ? [{ name, address: address.text }] : [],
  )
  return ascii.length === written.length ? mailboxField(name, ascii) : undefined
}

/** Writes Content-Type or Content-Disposition with its file name in ASCII. Undefined if a part of it would be lost. */
export function parametersField(name: string, value: string): string | undefined {
  const parameter = name.toLowerCase() === 'content-type' ? 'name' : 'filename'
  const parameters = parametersIn(value)
  const [essence = ''] = value.split(';', 1)
  if (!isAscii(essence) || unreadIn(value.slice(essence.length)) !== '') return undefined
  const file = parameterText(parameters, parameter)
  const others = [...parameters].filter(([key]) => key !== parameter && !key.startsWith(`${parameter}*`))
  if (others.some(([, text]) => !isAscii(text))) return undefined
  const written = others.map(([key, text]) =>
    key.endsWith('*') ? `${key}=${text}` : `${key}="${text.replace(/["\\]/g, '\\$&')}"`,
  )
  const all = [essence.trim(), ...written, ...(file === undefined ? [] : [fileNameParameter(parameter, file)])]
  return `${name}: ${all.join(';\r\n ')}\r\n`
}
