import { isUtf8 } from 'node:buffer'
import { type Decoder, decodeText, decodeWords, isPlain } from '@postrider/core/mime'
import { isRead } from './known-charsets.ts'

/** Charsets of encoded words that are looked up in one message; an unknown one takes as long as a hundred words. */
const MAX_CHARSETS = 100
/** ASCII without escape sequences. */
const PLAIN = /^[\x00-\x1a\x1c-\x7f]*$/

/** Reads header fields as mail programs do: given as octets, one character each. */
export class HeaderText {
  readonly #charset: string
  readonly #decoders = new Map<string, Decoder | undefined>()

  /** `charset` is that of the message, which raw text of its header is often in. */
  constructor(charset: string) {
    this.#charset = decodeText(Buffer.from('a'), charset) === 'a' ? charset : ''
  }

  /** Returns a field with its raw text decoded. Encoded words stay. */
  decode(field: string): string {
    if (PLAIN.test(field)) return field
    const octets = Buffer.from(field, 'latin1')
    return decodeText(octets, isUtf8(octets) ? '' : this.#charset)
  }

  /** Returns a field in UTF-8, and its encoded words in that or in a charset that mailparser reads. */
  readable(field: string): string {
    if (PLAIN.test(field) && !field.includes('=?')) return field
    const text = decodeWords(this.decode(field), { write: encodedWord, decoderOf: (name) => this.#decoderOf(name) })
    return Buffer.from(text).toString('latin1')
  }

  #decoderOf(name: string): Decoder | undefined {
    if (!this.#decoders.has(name) && this.#decoders.size < MAX_CHARSETS) {
      const isLeft = !isPlain(name) && isRead(name)
      const decode = (octets: unknown): string => decodeText(octets as Buffer, name)
      this.#decoders.set(name, isLeft ? undefined : { encoding: name, decode })
    }
    return this.#decoders.get(name)
  }
}

/** In quoted-printable, since mailparser reads addresses in words of base64. */
function encodedWord(text: string): string {
  if (text === '') return ''
  const octets = Buffer.from(text.replace(/\p{Cc}/gu, ' ')).toString('latin1')
  return `=?utf-8?Q?${octets.replace(/[^A-Za-z0-9]/g, (octet) => `=${octet.charCodeAt(0).toString(16).padStart(2, '0')}`)}?=`
}
