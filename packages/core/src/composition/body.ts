import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib'

/**
 * How bodies lie in the database. Large text is deflated here, at level 1, which costs less than storing and reading the octets it
 * saves; what is small or does not shrink lies as it is (docs/decisions/0005-bodies-are-deflated.md).
 */
export type Encoding = 'deflate' | 'raw'

/** A part as it goes in: in pieces, since putting a large body together only to send it costs as much as receiving it. */
export interface EncodedPart {
  readonly encoding: Encoding
  readonly pieces: readonly Buffer[]
  /** Octets of all pieces. */
  readonly length: number
}

/** Up to this deflating takes more time than storing: 35 to 60 µs for 10 kB, against 30 in the database. */
const SMALL = 16 * 1024
/** Larger ones are deflated only when a sample shrinks well; base64 costs 10 times what text does and gains 25 %. */
const SAMPLE = 8192
/** Above this even text is stored raw: deflating would hold up every other accept of the process. */
const TOO_LARGE = 1024 * 1024

/** A window of 8 kB with small tables: the usual ones cost more to set up than a small body takes, and shrink it no further. */
const DEFLATE = { level: 1, windowBits: 13, memLevel: 6, chunkSize: 4096 } as const

export function encodePart(pieces: readonly Buffer[]): EncodedPart {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const raw: EncodedPart = { encoding: 'raw', pieces, length }
  if (length <= SMALL || length > TOO_LARGE) return raw
  const sample = sampleOf(pieces, length)
  if (deflateRawSync(sample, DEFLATE).length > sample.length / 2) return raw
  const content = deflateRawSync(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces), DEFLATE)
  return content.length < length * 0.9 ? { encoding: 'deflate', pieces: [content], length: content.length } : raw
}

/** From the piece that the middle lies in. */
function sampleOf(pieces: readonly Buffer[], length: number): Buffer {
  let at = length >> 1
  for (const piece of pieces) {
    if (at < piece.length) return piece.subarray(Math.max(0, Math.min(at, piece.length - SAMPLE)), at + SAMPLE)
    at -= piece.length
  }
  return pieces[0] as Buffer
}

/**
 * What a part is known by in the database: CRC-32 of its message's id, its number and its octets as they lie there, a piece after the
 * other, 0.3 ms for 1 MB. It tells what disks, restores and hands change, and not who could write a new one beside it.
 */
export class PartDigest {
  #value: number

  /** `id`: UUID. */
  constructor(id: string, part: number) {
    this.#value = crc32(`${id} ${part} `)
  }

  add(octets: Uint8Array): void {
    this.#value = crc32(octets, this.#value)
  }

  /** As an `integer` of the database, which has a sign. */
  get value(): number {
    return this.#value | 0
  }
}

/** Undoes {@link encodePart}. `size` bounds what is inflated. Throws an Error when the octets are damaged. */
export function decodePart(part: { readonly encoding: Encoding; readonly content: Buffer }, size: number): Buffer {
  return part.encoding === 'raw' ? part.content : inflateRawSync(part.content, { maxOutputLength: Math.max(size, 1) })
}
