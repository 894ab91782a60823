import { deflateRawSync, inflateRawSync } from 'node:zlib'

/**
 * How bodies lie in the database. Text is deflated here at level 1: 37 µs for 10 kB against some 80 µs that Postgres spends
 * on storing the octets it saves (docs/decisions/0005-bodies-are-deflated.md). What does not shrink is stored as it is.
 */
export interface EncodedPart {
  readonly encoding: 'deflate' | 'raw'
  readonly content: Buffer
}

const WORTH_IT = 256
const SAMPLE = 8192
/** Above this a body is deflated only when its start shrinks well; base64 costs 10 times what text does and gains 25 %. */
const SAMPLE_ABOVE = 2 * SAMPLE
/** Above this even text is stored raw: deflating would hold up every other accept of the process. */
const TOO_LARGE = 1024 * 1024

/** A window of 8 kB with small tables: the usual ones cost more to set up than a small body takes, and shrink it no further. */
const DEFLATE = { level: 1, windowBits: 13, memLevel: 6, chunkSize: 4096 } as const

export function encodePart(octets: Buffer): EncodedPart {
  if (octets.length < WORTH_IT || octets.length > TOO_LARGE) return { encoding: 'raw', content: octets }
  if (octets.length > SAMPLE_ABOVE) {
    const middle = octets.length >> 1
    const sample = octets.subarray(middle, middle + SAMPLE)
    if (deflateRawSync(sample, DEFLATE).length > sample.length / 2) return { encoding: 'raw', content: octets }
  }
  const content = deflateRawSync(octets, DEFLATE)
  return content.length < octets.length * 0.9 ? { encoding: 'deflate', content } : { encoding: 'raw', content: octets }
}

/** Undoes {@link encodePart}. `size` bounds what is inflated. Throws an Error when the octets are damaged. */
export function decodePart(part: EncodedPart, size: number): Buffer {
  return part.encoding === 'raw' ? part.content : inflateRawSync(part.content, { maxOutputLength: Math.max(size, 1) })
}
