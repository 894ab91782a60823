import { leadingEssence } from '../media-type.ts'
import { LEADING_COMMENTS, type PartField, parametersIn, parseField } from '../read.ts'
import { MAX_LINE } from './line-length.ts'

export const [TYPE, ENCODING] = ['content-type', 'content-transfer-encoding']

/**
 * Type and parameters of a part; undefined if it has two of the fields that say how to read it. One that is malformed is read by its beginning, as readers
 * do.
 */
export function typeOf(
  fields: readonly PartField[],
  inDigest: boolean,
): { value: string; parameters: ReadonlyMap<string, string> } | undefined {
  const types = fields.filter(({ name }) => name === TYPE)
  if (types.length > 1 || fields.filter(({ name }) => name === ENCODING).length > 1) return undefined
  const byDefault = inDigest ? 'message/rfc822' : 'text/plain'
  const read = parseField(fields, TYPE, byDefault)
  if (read) return read
  const written = types[0]?.value.slice(0, MAX_LINE).replace(LEADING_COMMENTS, '') ?? ''
  return { value: leadingEssence(written) ?? byDefault, parameters: parametersIn(written) }
}

/** Whether a field, with its line end, has this name. */
export function isNamed(field: string, name: string): boolean {
  return field.slice(0, field.indexOf(':')).trimEnd().toLowerCase() === name
}

/** The beginning of a line for a reply. */
export function shownName(field: string): string {
  return (field.split(':', 1)[0] ?? '').slice(0, 60).replace(/[^\x21-\x7e]/g, '?')
}

/** The name of a part for a reply; `number` is as in IMAP, and empty for the message itself. */
export function nameOf({ number }: { readonly number: string }): string {
  return number === '' ? 'the body' : `part ${number}`
}

/** The value of the first field of this name; empty if there is none. */
export function valueIn(fields: readonly PartField[], wanted: string): string {
  return fields.find(({ name }) => name === wanted)?.value ?? ''
}
