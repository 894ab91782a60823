import { parametersIn } from './read.ts'

/** A media type with its parameters (RFC 2045 5.1), as clients write it and as we write it. */
export interface MediaType {
  /** `type/subtype`, lower case. */
  readonly essence: string
  /** By lower-case name. */
  readonly parameters: ReadonlyMap<string, string>
}

/** RFC 6838 4.2, lower case. */
const ESSENCE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/
/** Characters with all parameters. A parameter stands on a line of its own, so a line stays below 998 (RFC 5322 2.1.1). */
const MAX_LENGTH = 500
const TOKEN = /^[\w!#$&^.+-]+$/
const PRINTABLE = /^[\x20-\x7e]*$/
/** The service writes these itself: the charset of every text is UTF-8, and the name is that of the file. */
const RESERVED = /^(charset|name|boundary)(\*|$)/

/** Undefined if it is not a valid type, or too long. Parameters that cannot be read are left out. */
export function parseMediaType(written: string): MediaType | undefined {
  const trimmed = written.trim()
  if (trimmed.length > MAX_LENGTH) return undefined
  const essence = essenceOf(trimmed)
  return ESSENCE.test(essence) ? { essence, parameters: parametersIn(trimmed) } : undefined
}

/** What stands before the parameters. */
export function essenceOf(written: string): string {
  const end = written.indexOf(';')
  return (end === -1 ? written : written.slice(0, end)).trim().toLowerCase()
}

/** Parameters as a field takes them: `method=REQUEST`, quoted where they must be; without those that the service writes itself. */
export function ownParameters({ parameters }: MediaType): string[] {
  return [...parameters]
    .filter(([name, value]) => TOKEN.test(name) && PRINTABLE.test(value) && !RESERVED.test(name))
    .map(([name, value]) => `${name}=${TOKEN.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`}`)
}

/** In one line, as it is stored: {@link parseMediaType} reads it again. */
export function formatMediaType(type: MediaType): string {
  return [type.essence, ...ownParameters(type)].join('; ')
}
