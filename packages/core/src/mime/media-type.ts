import { parametersIn } from './read.ts'

/** A media type with its parameters (RFC 2045 5.1). */
export interface MediaType {
  /** `type/subtype`, lower case. */
  readonly essence: string
  /** Values by lower-case name. */
  readonly parameters: ReadonlyMap<string, string>
}

/** RFC 6838 4.2, lower case. */
const ESSENCE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/
/**
 * Maximum length including all parameters. If each parameter is on its own line, lines stay below 998 characters (RFC
 * 5322 2.1.1).
 */
const MAX_LENGTH = 500
const TOKEN = /^[\w!#$&^.+-]+$/
const PRINTABLE = /^[\x20-\x7e]*$/
/** Parameters that the service sets itself: the charset is always UTF-8, and the name is the file's. */
const RESERVED = /^(charset|name|boundary)(\*|$)/

/** Parses a media type; undefined if it is invalid or too long. Malformed parameters are dropped. */
export function parseMediaType(written: string): MediaType | undefined {
  const trimmed = written.trim()
  if (trimmed.length > MAX_LENGTH) return undefined
  const essence = essenceOf(trimmed)
  return ESSENCE.test(essence) ? { essence, parameters: parametersIn(trimmed) } : undefined
}

/** Returns the part before the parameters. */
export function essenceOf(written: string): string {
  const end = written.indexOf(';')
  return (end === -1 ? written : written.slice(0, end)).trim().toLowerCase()
}

/** Returns the `type/subtype` that a field begins with, in lower case, whatever follows it; undefined if there is none. */
export function leadingEssence(written: string): string | undefined {
  return /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}/.exec(written)?.[0].toLowerCase()
}

/**
 * Formats parameters for a header field (`method=REQUEST`), quoted if necessary, without those that the service sets
 * itself.
 */
export function ownParameters({ parameters }: MediaType): string[] {
  return [...parameters]
    .filter(([name, value]) => TOKEN.test(name) && PRINTABLE.test(value) && !RESERVED.test(name))
    .map(([name, value]) => `${name}=${TOKEN.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`}`)
}

/** Formats the type on one line for storage; {@link parseMediaType} reads it. */
export function formatMediaType(type: MediaType): string {
  return [type.essence, ...ownParameters(type)].join('; ')
}
