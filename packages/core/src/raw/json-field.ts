import { decodeWordsInPieces } from '../mime/words.ts'
import type { Stoppable } from '../platform/concurrency/turns.ts'

/** Maximum levels of a field's JSON; bounds recursive readers. */
export const MAX_DEPTH = 16

/** The object, or the problem. */
export type ParsedObject = Record<string, unknown> | string

/**
 * Parses a field with JSON. Mail libraries write its non-ASCII text as encoded words (RFC 2047), often with quotes and commas of the JSON in them, so it
 * is decoded first. Some programs encode a name before they write the JSON; decoded, it may have quotes of its own. So if the result is not
 * an object, the words are text within strings.
 *
 * A field may be folded before a tab, too (RFC 5322 2.2.3), which JSON does not allow in a string.
 */
export function* parseField(value: string, parse: (text: string) => Stoppable<ParsedObject>): Stoppable<ParsedObject> {
  const field = value.replaceAll('\t', ' ')
  const parsed = yield* parse(yield* decodeWordsInPieces(field))
  if (typeof parsed !== 'string' || !field.includes('=?')) return parsed
  yield
  const quoted = yield* parse(yield* decodeWordsInPieces(field, { write: escaped }))
  return typeof quoted === 'string' ? parsed : quoted
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)
