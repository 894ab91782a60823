import { isUtf8 } from 'node:buffer'
import { parseDomain } from '../address.ts'
import { isAscii } from '../charset.ts'
import { encodedWords, fileNameParameter, ownField, rawField } from '../header.ts'
import { parameterText } from '../parameters.ts'
import { parametersIn, unreadIn } from '../read.ts'
import { readable } from '../words.ts'
import { isStructured } from './folding.ts'
import { asciiAddress, asciiPhrases } from './phrases.ts'

/** Fields of addresses (RFC 5322 3.6.2, 3.6.3, 3.6.6, RFC 8098 2.1). */
const ADDRESSES =
  /^(?:(?:resent-)?(?:from|sender|reply-to|to|cc|bcc)|(?:disposition-notification|return-receipt|errors|mail-followup|mail-reply)-to)$/i
/** Fields of URLs in angle brackets (RFC 2369), and of one URL (RFC 2557 4). */
const URLS = /^list-(?:unsubscribe|subscribe|help|post|owner|archive)$/i
const URL_ONLY = /^content-(?:location|base)$/i
const LIST_ID = /^list-id$/i
/** Phrases beside ids (RFC 5322 4.5.4). */
const IDS = /^(?:in-reply-to|references)$/i
const PARAMETERS = /^content-(?:type|disposition)$/i
/** Octets of the longest one whose parameters are written again. */
const MAX_PARAMETERS = 32 * 1024
/** Fields that only people read, after trouble, or that have no letter beyond ASCII. */
const TRACE = /^(?:received|received-spf|authentication-results|content-language)$/i
/** Free text, also where its name ends like that of another field. */
const UNREGISTERED = /^x-/i
const COMMENT = /\([^()]*\)/g

/** Returns whether a field has addresses, which must be ASCII at a server without SMTPUTF8. */
export function isAddressField(name: string): boolean {
  return ADDRESSES.test(name)
}

/**
 * Returns a header field in ASCII, for servers without SMTPUTF8: text as encoded words (RFC 2047), domains as A-labels (RFC 5890), file names by
 * RFC 2231, URLs with percent signs. Letters beyond ASCII outside of the comments of trace fields become question marks. Undefined if that is
 * impossible: a local part or an id beyond ASCII, another field with a syntax of its own.
 *
 * `field` is the field with its CRLF, one character per octet; `fallback` the charset of text that is not UTF-8. Takes time linear in the length.
 */
export function asciiField(field: string, { fallback }: { readonly fallback?: string } = {}): string | undefined {
  if (isAscii(field)) return field
  const colon = field.indexOf(':')
  if (colon === -1) return undefined
  const octets = Buffer.from(field, 'latin1')
  if (!isUtf8(octets) && fallback === undefined) return undefined
  const text = (isUtf8(octets) ? octets.toString() : new TextDecoder(fallback).decode(octets)).replaceAll('\r\n', '')
  const name = text.slice(0, colon).trimEnd()
  const value = text.slice(colon + 1).trim()
  if (!isAscii(name)) return undefined
  if (PARAMETERS.test(name)) return value.length > MAX_PARAMETERS ? undefined : parametersField(name, value)
  if (UNREGISTERED.test(name)) return ownField(name, readable(value))
  const structured = structuredValue(name, value)
  if (structured !== null) return structured === undefined ? undefined : rawField(name, structured)
  if (!isStructured(name)) return ownField(name, readable(value))
  const bare = value.replace(COMMENT, (comment) => (isAscii(comment) ? comment : '')).trim()
  return isAscii(bare) && bare !== '' ? rawField(name, bare) : undefined
}

/** Null for a field of another kind. */
function structuredValue(name: string, written: string): string | undefined | null {
  // A field is folded at spaces only.
  const value = written.replaceAll('\t', ' ')
  if (URL_ONLY.test(name)) return asciiUrl(value)
  if (URLS.test(name))
    return value.includes('<') || value.includes(' ') ? asciiPhrases(value, asciiUrl) : asciiUrl(value)
  if (LIST_ID.test(name)) return asciiPhrases(value, parseDomain)
  if (IDS.test(name)) return asciiPhrases(value, () => undefined)
  if (TRACE.test(name)) return asciiTrace(value)
  return ADDRESSES.test(name) || /-to$/i.test(name) ? asciiPhrases(value, asciiAddress) : null
}

function asciiTrace(value: string): string {
  return value
    .replace(COMMENT, (comment) =>
      isAscii(comment) ? comment : `(${encodedWords(readable(comment.slice(1, -1)).trim(), 1)})`,
    )
    .replace(/[^\x00-\x7f]/gu, '?')
}

/** Percent signs (RFC 3986 2.1), and A-labels for the host; what is ASCII stays as it is. */
function asciiUrl(url: string): string | undefined {
  const [, scheme = '', host = '', rest = url] = /^([a-z][a-z0-9+.-]{0,30}:\/\/)([^/?#:@]*)(.*)$/is.exec(url) ?? []
  const domain = isAscii(host) ? host : parseDomain(host)
  return domain === undefined ? undefined : scheme + domain + rest.replace(/[^\x00-\x7f]+/g, encodeURIComponent)
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
