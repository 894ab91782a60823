import { isUtf8 } from 'node:buffer'
import { splitFields } from '../end-of-field.ts'
import { asciiField, isAddressField } from './ascii-field.ts'

/** `written`: the header in ASCII, apart from fields that may stay as they are. `impossible`: the name of a field that may not. */
export type AsciiHeader =
  | { readonly kind: 'written'; readonly octets: Uint8Array }
  | { readonly kind: 'impossible'; readonly name: string }

/**
 * Writes a header in ASCII for a server without SMTPUTF8, given as octets with the CRLF of its last field. Where that is impossible, only a field of
 * addresses in UTF-8 is an obstacle, and with `isStrict` any field. Takes time linear in the length: 512 kB take up to 300 ms.
 */
export function asciiHeader(head: Buffer, isStrict: boolean): AsciiHeader {
  const fields: string[] = []
  for (const field of splitFields(head.toString('latin1'))) {
    const ascii = asciiField(field)
    if (ascii === undefined) {
      const name = field.slice(0, Math.max(0, field.indexOf(':'))).trimEnd()
      const isObstacle = isStrict || (isAddressField(name) && isUtf8(Buffer.from(field, 'latin1')))
      if (isObstacle) return { kind: 'impossible', name: name.slice(0, 60) }
    }
    fields.push(ascii ?? field)
  }
  return { kind: 'written', octets: Buffer.from(fields.join(''), 'latin1') }
}
