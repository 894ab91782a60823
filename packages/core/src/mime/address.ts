import { domainToASCII, domainToUnicode } from 'node:url'

/**
 * A parsed email address. All entry points use this parser, so the domain that is validated is also the one that is
 * looked up, used in RCPT TO and shown in the header.
 */
export interface Address {
  /** The address for RCPT TO and headers: canonical local part @ A-label domain. */
  readonly text: string
  readonly local: string
  /** Lower-case A-label (RFC 5890). */
  readonly domain: string
  /** Lower-case canonical form: all spellings of a mailbox have the same key. */
  readonly key: string
  /** Whether the local part has non-ASCII characters, so that the next host must offer SMTPUTF8 (RFC 6531). */
  readonly utf8: boolean
}

// RFC 5322 3.2.3 atext, with RFC 6532's non-ASCII characters. Non-ASCII control, format and separator characters are
// excluded: they do not occur in names, are invisible in logs and are used to spoof addresses.
const ATOM = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~\u{a0}-\u{10ffff}-]+$/u
const INVISIBLE = /[\p{C}\p{Z}]/u
// RFC 5321 4.1.2 Quoted-string: printable ASCII, each character optionally preceded by \.
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])+)"$/
/** Maximum length of a quoted local part: 64 characters, each escaped, and the quotes. */
const MAX_QUOTED_LENGTH = 2 * 64 + 2
/**
 * An address that needs no canonical form but a domain in lower case: dot-atom of ASCII, labels of letters, digits and hyphens. Nearly all
 * are such, and each call parses its addresses several times. The end is a letter, since an all-numeric top-level label is refused.
 */
const PLAIN =
  /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,64}(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,64}){0,32}@(?:(?!-)[A-Za-z0-9-]{0,62}[A-Za-z0-9]\.){0,126}(?!-)[A-Za-z0-9-]{0,62}[A-Za-z]$/
const LDH_LABEL = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/

/**
 * Parses a bare address (RFC 5321 Mailbox, RFC 6531) without display name or comments. Surrounding spaces and tabs are
 * dropped. Returns undefined if it is invalid, or valid but not supported: address literals, all-numeric top-level
 * labels, and parts that are too long (64 octets local, 254 in total).
 */
export function parseAddress(input: string): Address | undefined {
  const text = trimBlanks(input)
  if (text.length > 512) return undefined
  const at = text.lastIndexOf('@')
  if (at <= 0) return undefined
  if (text.length <= 254 && at <= 64 && PLAIN.test(text)) {
    const domain = text.slice(at + 1).toLowerCase()
    // Fake A-labels are refused below.
    if (!domain.includes('xn--')) {
      const full = `${text.slice(0, at)}@${domain}`
      return { text: full, local: text.slice(0, at), domain, key: full.toLowerCase(), utf8: false }
    }
  }
  const local = parseLocal(text.slice(0, at))
  if (local === undefined) return undefined
  const domain = parseDomain(text.slice(at + 1))
  if (domain === undefined) return undefined
  // RFC 5321 4.5.3.1.3: a path has at most 256 octets including its brackets.
  const full = `${local}@${domain}`
  if (Buffer.byteLength(full) > 254) return undefined
  return { text: full, local, domain, key: full.toLowerCase(), utf8: /[^\x00-\x7f]/.test(local) }
}

/** Returns the form in which an address is stored and compared. An invalid address is stored in lower case. */
export function addressKey(text: string): string {
  return parseAddress(text)?.key ?? text.trim().toLowerCase()
}

/**
 * Parses a domain name: LDH labels, or an internationalised name, which is converted to A-labels. Returns the
 * lower-case A-label form, or undefined if it is invalid.
 */
export function parseDomain(input: string): string | undefined {
  let domain = input.toLowerCase()
  const ascii = /^[\x21-\x7e]+$/.test(domain)
  if (!ascii) {
    if (/[\x00-\x20\x7f]/.test(domain) || INVISIBLE.test(domain)) return undefined
    domain = domainToASCII(domain)
  } else if (domain.includes('xn--') && !domain.split('.').every(isValidLabel)) {
    return undefined
  }
  if (domain === '' || domain.length > 253) return undefined
  const labels = domain.split('.')
  for (const label of labels) {
    if (label.length > 63 || !LDH_LABEL.test(label)) return undefined
  }
  // An all-numeric last label indicates an IP address without brackets (RFC 1123 2.1).
  if (/^\d+$/.test(labels.at(-1) ?? '')) return undefined
  return domain
}

/**
 * False for a fake A-label (RFC 5890 2.3.1), which begins with xn-- but is not valid Punycode: programs display it
 * differently.
 */
function isValidLabel(label: string): boolean {
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
  return INVISIBLE.test(normal) ? undefined : normal
}

/**
 * Unquotes where possible: `"\a"@x`, `"a"@x` and `a@x` are one mailbox, and another spelling must not evade a
 * suppression.
 */
function parseQuoted(local: string): string | undefined {
  if (local.length > MAX_QUOTED_LENGTH) return undefined
  const inside = QUOTED.exec(local)?.[1]
  if (inside === undefined) return undefined
  const plain = inside.replace(/\\(.)/g, '$1')
  const dotAtom = plain.split('.').every((atom) => ATOM.test(atom))
  const canonical = dotAtom ? plain : `"${plain.replace(/["\\]/g, '\\$&')}"`
  return Buffer.byteLength(canonical) > 64 ? undefined : canonical
}

/** Without spaces and tabs at both ends. Unlike `trim()`, it keeps A0, which may be the last octet of UTF-8 in latin1 text. */
export function trimBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && (text[start] === ' ' || text[start] === '\t')) start++
  while (end > start && (text[end - 1] === ' ' || text[end - 1] === '\t')) end--
  return start === 0 && end === text.length ? text : text.slice(start, end)
}
