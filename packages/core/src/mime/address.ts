import { domainToASCII, domainToUnicode } from 'node:url'

/**
 * An email address, parsed once at the door. Every door uses this one parser, so the domain that is validated is the domain
 * that is looked up, written into RCPT TO and shown in the header.
 */
export interface Address {
  /** As it goes into RCPT TO and headers: canonical local part @ A-label domain. */
  readonly text: string
  readonly local: string
  /** Lower-case A-label (RFC 5890). */
  readonly domain: string
  /** Lower-case canonical form: two spellings of one mailbox have one key. */
  readonly key: string
  /** The local part has non-ASCII characters, so the next host must offer SMTPUTF8 (RFC 6531). */
  readonly utf8: boolean
}

// RFC 5322 3.2.3 atext, with RFC 6532's non-ASCII. Control, format and separator characters beyond ASCII are not letters of
// anybody's name; they hide in logs and spoof addresses, so they are out.
const ATOM = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~\u{a0}-\u{10ffff}-]+$/u
const HIDDEN = /[\p{C}\p{Z}]/u
// RFC 5321 4.1.2 Quoted-string: printable ASCII, with \ before any of it.
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])+)"$/
/** Characters of a quoted local part: 64 octets, each of them quoted, and the quotes. */
const LONGEST_QUOTED = 2 * 64 + 2
const LDH_LABEL = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/

/**
 * Parses one bare address (RFC 5321 Mailbox, RFC 6531), without display name or comments. Surrounding spaces and tabs are
 * dropped. Answers undefined when it is none, or one we don't deliver to: address literals, all-numeric top-level labels,
 * over-long parts (64 octets, 255 octets).
 */
export function parseAddress(input: string): Address | undefined {
  const text = trimBlanks(input)
  if (text.length > 512) return undefined
  const at = text.lastIndexOf('@')
  if (at <= 0) return undefined
  const local = parseLocal(text.slice(0, at))
  if (local === undefined) return undefined
  const domain = parseDomain(text.slice(at + 1))
  if (domain === undefined) return undefined
  // RFC 5321 4.5.3.1.3: a path is at most 256 octets with its brackets.
  const full = `${local}@${domain}`
  if (Buffer.byteLength(full) > 254) return undefined
  return { text: full, local, domain, key: full.toLowerCase(), utf8: /[^\x00-\x7f]/.test(local) }
}

/**
 * Parses a domain name: LDH labels, or an internationalised name, which becomes A-labels. Answers the lower-case A-label
 * form, or undefined.
 */
export function parseDomain(input: string): string | undefined {
  let domain = input.toLowerCase()
  const ascii = /^[\x21-\x7e]+$/.test(domain)
  if (!ascii) {
    if (/[\x00-\x20\x7f]/.test(domain) || HIDDEN.test(domain)) return undefined
    domain = domainToASCII(domain)
  } else if (domain.includes('xn--') && !domain.split('.').every(isGenuine)) {
    return undefined
  }
  if (domain === '' || domain.length > 253) return undefined
  const labels = domain.split('.')
  for (const label of labels) {
    if (label.length > 63 || !LDH_LABEL.test(label)) return undefined
  }
  // An all-numeric last label is how an address without brackets looks (RFC 1123 2.1).
  if (/^\d+$/.test(labels.at(-1) ?? '')) return undefined
  return domain
}

/** A label that begins with xn-- but encodes nothing (RFC 5890 2.3.1: a fake A-label) shows as one name here and as another there. */
function isGenuine(label: string): boolean {
  if (!label.startsWith('xn--')) return true
  const unicode = domainToUnicode(label)
  return unicode !== label && domainToASCII(unicode) === label
}

function parseLocal(local: string): string | undefined {
  if (local.startsWith('"')) return parseQuoted(local)
  const normal = local.normalize('NFC')
  if (Buffer.byteLength(normal) > 64) return undefined
  for (const atom of normal.split('.')) {
    if (!ATOM.test(atom)) return undefined
  }
  return HIDDEN.test(normal) ? undefined : normal
}

/** `"\a"@x`, `"a"@x` and `a@x` are one mailbox: quoting goes where it isn't needed, so that a suppression can't be evaded. */
function parseQuoted(local: string): string | undefined {
  if (local.length > LONGEST_QUOTED) return undefined
  const inside = QUOTED.exec(local)?.[1]
  if (inside === undefined) return undefined
  const plain = inside.replace(/\\(.)/g, '$1')
  const dotAtom = plain.split('.').every((atom) => ATOM.test(atom))
  const canonical = dotAtom ? plain : `"${plain.replace(/["\\]/g, '\\$&')}"`
  return Buffer.byteLength(canonical) > 64 ? undefined : canonical
}

function trimBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && (text[start] === ' ' || text[start] === '\t')) start++
  while (end > start && (text[end - 1] === ' ' || text[end - 1] === '\t')) end--
  return start === 0 && end === text.length ? text : text.slice(start, end)
}
