import { isUtf8 } from 'node:buffer'

/** The fields of one header, by lower-case name. */
export class HeaderFields {
  readonly #values = new Map<string, string[]>()

  /** Returns the first value, unfolded; undefined if the field is absent. */
  get(name: string): string | undefined {
    return this.#values.get(name)?.[0]
  }

  /** Returns all values, unfolded, in order. */
  all(name: string): readonly string[] {
    return this.#values.get(name) ?? []
  }

  get size(): number {
    return this.#values.size
  }

  add(name: string, value: string): void {
    const values = this.#values.get(name)
    if (values) values.push(value)
    else this.#values.set(name, [value])
  }
}

/**
 * Reads the fields of a header (RFC 5322 2.2), given as octets. Lines that are not part of a field are skipped. Values are read as
 * UTF-8 if they are valid UTF-8 (RFC 6532), otherwise as ISO 8859-1. The caller limits the size.
 */
export function headerFields(head: Buffer): HeaderFields {
  const text = isUtf8(head) ? head.toString() : head.toString('latin1')
  const fields = new HeaderFields()
  let name = ''
  let pieces: string[] = []
  const finish = () => {
    if (name !== '') fields.add(name, pieces.join(' ').trim())
    name = ''
  }
  for (const line of text.split('\n')) {
    const bare = line.endsWith('\r') ? line.slice(0, -1) : line
    if (bare.startsWith(' ') || bare.startsWith('\t')) {
      if (name !== '') pieces.push(bare.trim())
      continue
    }
    finish()
    const colon = bare.indexOf(':')
    name = colon === -1 ? '' : fieldName(bare.slice(0, colon))
    pieces = [bare.slice(colon + 1).trim()]
  }
  finish()
  return fields
}

/** Returns an empty text for a name with spaces or other characters that no field has. */
function fieldName(written: string): string {
  const name = written.trimEnd().toLowerCase()
  return /^[!-9;-~]{1,100}$/.test(name) ? name : ''
}
