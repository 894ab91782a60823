import { parseDomain } from '../address.ts'
import { isAscii } from '../charset.ts'
import type { Edit } from './edits.ts'
import { folded, hasLongLine, MAX_ENCODED } from './folding.ts'
import { signedFields } from './intact-signature.ts'
import { MAX_LINE } from './line-length.ts'
import { meantEncoding } from './transfer-encoding.ts'
import { CONTENT_ONCE, isSame, MAX_TWINS } from './twins.ts'

/** A field of a header; offsets are those of its octets, `end` is after the line end. */
export interface HeaderField {
  /** Lower case. */
  readonly name: string
  /** Unfolded and trimmed. */
  readonly value: string
  readonly start: number
  readonly end: number
}

/** A header as it was written: one character per octet, with its fields and what else is in it. */
export interface WrittenHeader {
  readonly text: string
  readonly fields: readonly HeaderField[]
  /** The first line that is not a field, with those that continue it. */
  readonly stray: Pick<HeaderField, 'start' | 'end'> | undefined
}

/** Corrections in a header, and the words for them; `problem` names one that is impossible. */
export type HeaderCorrection =
  | { readonly edits: readonly Edit[]; readonly corrected: string }
  | { readonly problem: string }

/** Fields that occur once (RFC 5322 3.6, RFC 2045 1, RFC 8058 3), with a bit for each (31 are possible): a set of those seen took twice the time. */
const ONCE = new Map(
  [
    ...[
      'from',
      'subject',
      'to',
      'cc',
      'date',
      'message-id',
      'reply-to',
      'sender',
      'references',
      'in-reply-to',
      'mime-version',
    ],
    ...['list-unsubscribe', 'list-unsubscribe-post'],
    ...CONTENT_ONCE,
  ].map((name, at) => [name, 1 << at]),
)
const TYPE_BEFORE_CHARSET = /^text\/[a-z]{1,20}(?=[ \t]{1,9}charset[ \t]{0,9}=)/i
const [TRANSFER_ENCODING, FROM] = ['content-transfer-encoding', 'from']

/** Corrections of one kind in a header; more take too long. */
const MAX_EDITS = 1000
const [MAX_ENCODING, MAX_DOMAIN] = [100, 255]
/** Those of nearly all messages. */
const STANDARD = new Set(['7bit', '8bit', 'base64', 'quoted-printable', 'binary'])

export type HeaderRule = (header: WrittenHeader) => HeaderCorrection | undefined

/**
 * The corrections of a header before it is signed, since a later server would correct or refuse it: one rule for each kind, in the order in which
 * they apply. A correction is one that readers do not see; what has none is refused. Each rule takes time linear in the length of the header.
 */
export const HEADER_RULES: readonly HeaderRule[] = [
  lineOfMbox,
  strayLines,
  blankLines,
  blanksBeforeColon,
  twins,
  transferEncoding,
  contentType,
  uLabels,
  longLines,
]

/** RFC 4155: the first line of a message in a mailbox file. */
function lineOfMbox({ text, stray }: WrittenHeader): HeaderCorrection | undefined {
  if (stray?.start !== 0 || !text.startsWith('From ')) return undefined
  return { edits: [{ ...stray, text: '' }], corrected: 'the line From of a mailbox file was removed' }
}

/** RFC 5322 2.2. Some readers end the header at such a line. */
function strayLines({ text, stray }: WrittenHeader): HeaderCorrection | undefined {
  if (!stray) return undefined
  const line = text.slice(0, stray.start).split('\r\n').length
  return { problem: `line ${line} of the header is not a header field` }
}

/** RFC 5322 4.2: legal in old mail, but many readers end the header there. */
function blankLines({ text }: WrittenHeader): HeaderCorrection | undefined {
  if (!BLANK_LINE.test(text)) return undefined
  const edits: Edit[] = []
  // The line end before it, since the search for that one is fast.
  for (const { index, 0: found } of text.matchAll(/\n[ \t]+(?=\r\n)/g)) {
    const end = index + found.length + 2
    if (edits.push({ start: index + 1, end, text: '' }) > MAX_EDITS) return tooMany('blank lines')
  }
  return edits.length === 0 ? undefined : { edits, corrected: 'blank lines of the header were removed' }
}

const BLANK_LINE = /\n[ \t]+\r\n/

function tooMany(what: string): HeaderCorrection {
  return { problem: `the header has more than ${MAX_EDITS} ${what}` }
}

/** RFC 5322 4.5.3: `To :` is old syntax. */
function blanksBeforeColon({ text, fields }: WrittenHeader): HeaderCorrection | undefined {
  const spaced = fields.filter(({ name, start }) => text[start + name.length] !== ':')
  const [first] = spaced
  if (!first) return undefined
  if (spaced.length > MAX_EDITS) return tooMany('fields with a blank after their names')
  const edits = spaced.map(({ name, start }) => ({
    start: start + name.length,
    end: text.indexOf(':', start),
    text: '',
  }))
  return { edits, corrected: `the blank after ${nameOf(text, first)} was removed` }
}

function twins({ text, fields }: WrittenHeader): HeaderCorrection | undefined {
  let seen = 0
  const doubled: HeaderField[] = []
  for (const field of fields) {
    const bit = ONCE.get(field.name) ?? 0
    if ((seen & bit) === 0) {
      seen |= bit
      continue
    }
    const first = fields.find(({ name }) => name === field.name) as HeaderField
    if (doubled.length < MAX_TWINS && isSame(field.name, writtenIn(text, first), writtenIn(text, field)))
      doubled.push(field)
    else return { problem: `the field ${nameOf(text, field)} occurs more than once` }
  }
  const [first] = doubled
  if (!first) return undefined
  const edits = doubled.map(({ start, end }) => ({ start, end, text: '' }))
  return { edits, corrected: `the second field ${nameOf(text, first)} was removed` }
}

function writtenIn(text: string, { name, value, start, end }: HeaderField): { text: string; value: string } {
  return { text: text.slice(start + name.length, end), value }
}

/** Whether a DKIM signature covers a field, which it would no longer match; it is taken to be valid, since the body is not here yet. */
function isSigned(fields: readonly HeaderField[], { name }: HeaderField): boolean {
  return signedFields(fields.flatMap((field) => (field.name === 'dkim-signature' ? [field.value] : []))).has(name)
}

/** RFC 2045 6.1. An unknown one stays. */
function transferEncoding({ text, fields }: WrittenHeader): HeaderCorrection | undefined {
  const field = fields.find(({ name }) => name === TRANSFER_ENCODING)
  if (!field || STANDARD.has(field.value) || field.value.length > MAX_ENCODING || isSigned(fields, field))
    return undefined
  const meant = meantEncoding(field.value)
  if (meant === field.value.toLowerCase() || meant === '') return undefined
  const { start, end } = field
  const name = nameOf(text, field)
  return { edits: [{ start, end, text: `${name}: ${meant}\r\n` }], corrected: `${name} was written as ${meant}` }
}

/** RFC 2045 5.1: without the semicolon, some readers take the text for a file of an unknown type. */
function contentType({ text, fields }: WrittenHeader): HeaderCorrection | undefined {
  const field = fields.find(({ name }) => name === 'content-type')
  const end = field && TYPE_BEFORE_CHARSET.exec(field.value)?.[0].length
  if (!field || end === undefined || isSigned(fields, field)) return undefined
  const start = text.indexOf(field.value.slice(0, end), field.start) + end
  return { edits: [{ start, end: start, text: ';' }], corrected: `${nameOf(text, field)} got its semicolon` }
}

/** RFC 5890: From is on an active domain, which needs no SMTPUTF8. */
function uLabels({ text, fields }: WrittenHeader): HeaderCorrection | undefined {
  const field = fields.find(({ name }) => name === FROM)
  if (!field || isAscii(field.value)) return undefined
  const domain = field.value.slice(field.value.lastIndexOf('@') + 1).replace(/>$/, '')
  const ascii = domain.length > MAX_DOMAIN || isAscii(domain) ? undefined : parseDomain(domain)
  if (ascii === undefined) return undefined
  const written = Buffer.from(domain).toString('latin1')
  const start = text.lastIndexOf(written, field.end - written.length)
  if (start < field.start) return undefined
  return {
    edits: [{ start, end: start + written.length, text: ascii }],
    corrected: `the domain of From was written as ${ascii}`,
  }
}

function longLines({ text, fields }: WrittenHeader): HeaderCorrection | undefined {
  const edits: Edit[] = []
  const names: string[] = []
  let encodable = MAX_ENCODED
  for (const field of fields) {
    const { start, end } = field
    if (end - start <= MAX_LINE || !hasLongLine(text.slice(start, end))) continue
    const short = folded(text.slice(start, end), encodable)
    if (short === undefined)
      return {
        problem: `the field ${nameOf(text, field)} has a line of more than ${MAX_LINE} characters without a blank`,
      }
    edits.push({ start, end, text: short.text })
    if (short.isEncoded) encodable -= end - start
    names.push(nameOf(text, field))
  }
  const [name, second] = names
  if (name === undefined) return undefined
  return {
    edits,
    corrected: second === undefined ? `the header ${name} was folded` : `the headers ${names.join(', ')} were folded`,
  }
}

/** As written; its beginning. */
function nameOf(text: string, { name, start }: HeaderField): string {
  return text.slice(start, start + Math.min(name.length, 60))
}
