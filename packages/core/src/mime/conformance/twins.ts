import { readMailboxes } from '../mailboxes.ts'
import { leadingEssence } from '../media-type.ts'
import { LEADING_COMMENTS, type PartField, parametersIn, unreadIn } from '../read.ts'
import { meantEncoding } from './transfer-encoding.ts'

/** Fields of a part that occur once (RFC 2045 3). */
export const CONTENT_ONCE = new Set([
  ...['content-type', 'content-transfer-encoding', 'content-disposition', 'content-id', 'content-description'],
  ...['content-language', 'content-location', 'content-md5', 'content-base', 'content-features', 'content-duration'],
])
const ADDRESSES = new Set(['from', 'to', 'cc', 'reply-to', 'sender'])
const PARAMETERS = new Set(['content-type', 'content-disposition'])

/** Doubled fields, which are compared; more take too long. */
export const MAX_TWINS = 10
/** Octets of two fields that are compared by what they say. */
const MAX_COMPARED = 8192

interface Written {
  /** Behind the name. */
  readonly text: string
  /** Unfolded and trimmed. */
  readonly value: string
}

/** Whether two fields of a name say the same: PHP's mail() writes `To: a@b.example` above a script's `To: <a@b.example>`. */
export function isSame(name: string, one: Written, other: Written): boolean {
  if (one.text === other.text) return true
  if (one.text.length + other.text.length > MAX_COMPARED) return false
  const [first, second] = [sameText(one.text), sameText(other.text)]
  if (first === second) return true
  if (name === 'mime-version') return first.toLowerCase() === second.toLowerCase()
  if (name === 'content-transfer-encoding') return meantEncoding(one.value) === meantEncoding(other.value)
  if (PARAMETERS.has(name)) return meaningOf(one.value) === meaningOf(other.value)
  return ADDRESSES.has(name) && addressesIn(one.value) === addressesIn(other.value)
}

/** With the colon. */
function sameText(written: string): string {
  return written
    .replace(/\s+/g, ' ')
    .replace(/^ ?: ?/, ':')
    .trimEnd()
}

function addressesIn(value: string): string {
  const { mailboxes, plain } = readMailboxes(value)
  // Text that is not a plain list is like itself only.
  return plain ? mailboxes.map(({ email }) => email.toLowerCase()).join() : value
}

/** Type and parameters without order, quotes and case (RFC 2045 5.1); of parameters, only a charset's case has no meaning. */
function meaningOf(written: string): string {
  const value = written.replace(LEADING_COMMENTS, '')
  const [first = ''] = value.split(';', 1)
  const essence = leadingEssence(value) ?? first.trim().toLowerCase()
  if (first.trim().toLowerCase() !== essence || unreadIn(value.slice(first.length)) !== '') return value
  const parameters = [...parametersIn(value)].map(([name, text]) => [
    name,
    name === 'charset' ? text.toLowerCase() : text,
  ])
  return JSON.stringify([essence, parameters.sort()])
}

export interface PartTwins {
  /** Fields that say what one of the same name says already. */
  readonly doubled: readonly PartField[]
  /** The first one that says something else. */
  readonly other?: PartField
}

/** Looks for fields of a part that may occur once, and do not. */
export function twinsIn(fields: readonly PartField[]): PartTwins {
  const seen = new Map<string, PartField>()
  const doubled: PartField[] = []
  for (const field of fields) {
    if (!CONTENT_ONCE.has(field.name)) continue
    const first = seen.get(field.name)
    if (!first) seen.set(field.name, field)
    else if (doubled.length < MAX_TWINS && isSame(field.name, written(first), written(field))) doubled.push(field)
    else return { doubled, other: field }
  }
  return { doubled }
}

function written({ value }: PartField): Written {
  return { text: value, value }
}
