import { type HeaderFields, headerFields } from '../../mime/header-fields.ts'
import { type Leaf, type Leaves, readHeader } from '../../mime/read-leaves.ts'
import type { Marks } from './return-reading.ts'

const EMBEDDED = /^(message\/(rfc822|global|partial)|(text|message)\/(rfc822|global)-headers)$/
/** Fields that parts of a message do not have. */
const FIELDS_OF_MESSAGES = ['message-id', 'from', 'to', 'subject', 'return-path', 'received'] as const
/** Values kept per field. */
const MAX_VALUES = 5
const MAX_VALUE_LENGTH = 2048
const MAX_HEAD_OCTETS = 64 * 1024

/**
 * Whether the part is the returned message or its header. Some servers attach it without a type of its own, so that its header is
 * that of the part. A message without parts is its own only leaf, and not a returned message.
 */
export function isOriginal({ type, fields }: Leaf, { fields: own }: Leaves): boolean {
  if (fields === own) return false
  if (EMBEDDED.test(type)) return true
  return FIELDS_OF_MESSAGES.filter((name) => fields.get(name) !== undefined).length >= 2
}

/** Returns the headers of the returned messages: those among the parts, otherwise those quoted in the text. */
export function originalsOf(message: Leaves, text: string): HeaderFields[] {
  const embedded = message.leaves
    .filter((leaf) => isOriginal(leaf, message))
    .map((leaf) => (EMBEDDED.test(leaf.type) ? readHeader(leaf.octets(MAX_HEAD_OCTETS)) : leaf.fields))
  return embedded.length > 0 ? embedded : [headerFields(Buffer.from(text))]
}

/** Collects the values in which a mark of this service may be, from returned messages and the fields of a feedback report. */
export function marksOf(originals: readonly HeaderFields[], report: readonly HeaderFields[] = []): Marks {
  const all = (headers: readonly HeaderFields[], ...names: string[]) =>
    names
      .flatMap((name) => headers.flatMap((fields) => fields.all(name)))
      .slice(0, MAX_VALUES)
      .map((value) => value.slice(0, MAX_VALUE_LENGTH))
  return {
    returnPaths: all(originals, 'return-path', 'x-envelope-from'),
    references: all([...originals, ...report], 'x-pr-ref'),
    listUnsubscribe: all(originals, 'list-unsubscribe'),
    originalMailFrom: all([...report, ...originals], 'original-mail-from'),
    messageIds: all(originals, 'message-id'),
  }
}
