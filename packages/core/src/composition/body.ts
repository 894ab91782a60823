import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib'

/**
 * How bodies are stored in the database. Large text is deflated at level 1, which costs less than storing and reading the saved
 * bytes. Small bodies and those that do not shrink are stored unchanged (docs/decisions/0005-bodies-are-deflated.md).
 */
export type Encoding = 'deflate' | 'raw'

/** A part to be stored. It consists of pieces, because joining a large body only to send it costs as much as receiving it. */
export interface EncodedPart {
  readonly encoding: Encoding
  readonly pieces: readonly Buffer[]
  /** Total size of the pieces in bytes. */
  readonly length: number
  /** Set if the pieces are the key of a part in object storage: the bytes that it has there. */
  readonly objectLength?: number
}

/** Bytes up to which deflating takes more time than storing: 35 to 60 µs for 10 kB, against 30 µs in the database. */
const SMALL = 16 * 1024
/** Bytes of the sample that must shrink well, or the body is not deflated: base64 costs 10 times what text does and gains 25 %. */
const SAMPLE = 8192
/** Bytes of the sample in which other text has a blank, a bracket or a letter beyond ASCII: to deflate one of base64 takes 100 µs. */
const LINES = 1024
const BASE64 = /^[A-Za-z0-9+/=\r\n]+$/
/** Bytes above which even text is stored raw, because deflating would delay every other submission to the process. */
const TOO_LARGE = 1024 * 1024

/** A window of 8 kB with small tables: the default ones save no more and take longer to set up than a small body to deflate. */
const DEFLATE = { level: 1, windowBits: 13, memLevel: 6, chunkSize: 4096 } as const

/** Returns a part as it is to be stored, deflated if that saves at least a tenth. */
export function encodePart(pieces: readonly Buffer[]): EncodedPart {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const raw: EncodedPart = { encoding: 'raw', pieces, length }
  if (length <= SMALL || length > TOO_LARGE) return raw
  const sample = sampleOf(pieces, length)
  if (BASE64.test(sample.toString('latin1', 0, LINES))) return raw
  if (deflateRawSync(sample, DEFLATE).length > sample.length / 2) return raw
  const content = deflateRawSync(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces), DEFLATE)
  return content.length < length * 0.9 ? { encoding: 'deflate', pieces: [content], length: content.length } : raw
}

/** Returns a sample of the piece that contains the middle of the body. */
function sampleOf(pieces: readonly Buffer[], length: number): Buffer {
  let at = length >> 1
  for (const piece of pieces) {
    if (at < piece.length) return piece.subarray(Math.max(0, Math.min(at, piece.length - SAMPLE)), at + SAMPLE)
    at -= piece.length
  }
  return pieces[0] as Buffer
}

/**
 * Checksum of a stored part: the CRC-32 of its message's id, its number and its stored bytes, 0.3 ms for 1 MB. It detects changes by
 * disks, restores and manual updates, but not by an attacker, who can also replace the checksum.
 */
export class PartDigest {
  #value: number

  /** `id` is a UUID. */
  constructor(id: string, part: number) {
    this.#value = crc32(`${id} ${part} `)
  }

  add(octets: Uint8Array): void {
    this.#value = crc32(octets, this.#value)
  }

  /** The checksum as a Postgres `integer`, which is signed. */
  get value(): number {
    return this.#value | 0
  }
}

/** Reverses {@link encodePart}. `size` limits the inflated bytes. Throws an Error if the content is damaged. */
export function decodePart(part: { readonly encoding: Encoding; readonly content: Buffer }, size: number): Buffer {
  return part.encoding === 'raw' ? part.content : inflateRawSync(part.content, { maxOutputLength: Math.max(size, 1) })
}
