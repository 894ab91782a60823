import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

export type Encoding = 'br' | 'gzip'

/** Returns the best encoding that the header Accept-Encoding allows; undefined: none. */
export function acceptedEncoding(header: string | readonly string[] | undefined): Encoding | undefined {
  const accepted = String(header ?? '')
  if (/\bbr\b/.test(accepted)) return 'br'
  return /\bgzip\b/.test(accepted) ? 'gzip' : undefined
}

/** Returns a function that compresses the content once for each encoding, as far as is worth it for what is sent often. */
export function createEncoder(plain: Buffer): (encoding: Encoding) => Promise<Buffer> {
  const encoded = new Map<Encoding, Promise<Buffer>>()
  const encode = (encoding: Encoding) =>
    encoding === 'br'
      ? promisify(brotliCompress)(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })
      : promisify(gzip)(plain, { level: 9 })
  return (encoding) => {
    const known = encoded.get(encoding)
    if (known) return known
    const made = encode(encoding)
    encoded.set(encoding, made)
    return made
  }
}
