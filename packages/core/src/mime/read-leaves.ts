import { decodeText } from './decode-text.ts'
import { type HeaderFields, headerFields } from './header-fields.ts'
import { leadingEssence } from './media-type.ts'
import { parameterText } from './parameters.ts'
import { parametersIn, partsOf } from './read.ts'
import { decodeOctets } from './read-parts.ts'
import { readQuotedPrintable } from './transfer.ts'

/** A part of a message that contains no other parts. An embedded message is one leaf. */
export interface Leaf {
  /** Lower case; `text/plain` if not specified or unreadable. */
  readonly type: string
  readonly fields: HeaderFields
  /** Returns the content without transfer encoding; at most about `limit` octets of it. */
  octets(limit: number): Buffer
  /** Returns the text in its charset, with LF as line end; at most about `limit` octets of it. */
  text(limit: number): string
}

export interface Leaves {
  /** The header of the message. */
  readonly fields: HeaderFields
  /** In order of position. */
  readonly leaves: readonly Leaf[]
}

const MAX_DEPTH = 8
const MAX_PARTS = 50
const MAX_HEAD_OCTETS = 64 * 1024
/** Larger than what RFC 2046 5.1.1 allows; some servers exceed that. */
const MAX_BOUNDARY_LENGTH = 200
/** Octets of a message that are read. */
const MAX_OCTETS = 10 * 1024 * 1024
const MAX_FIELD_LENGTH = 2048
/**
 * Octets in which delimiters are searched: those of a large message four times, since each level of nested parts searches its own
 * again. Without this, 10 MiB of lines that begin like the delimiters of all eight levels took 0.6 s.
 */
const MAX_SEARCHED = 4 * MAX_OCTETS

/**
 * Reads a message from an unknown server, in time linear to its length, and never throws. It is more lenient than
 * {@link findTexts}: bare line feeds, repeated fields, headers without an end and multiparts without a boundary are read as well as
 * possible. Content beyond the limits is left out.
 */
export function readLeaves(message: Buffer): Leaves {
  const octets = withLineEnds(message.subarray(0, MAX_OCTETS))
  const walk = new Walk(octets)
  const fields = walk.part(0, octets.length, 0)
  return { fields, leaves: walk.leaves }
}

/** Reads the header at the beginning of the octets; at most 64 KiB of it. */
export function readHeader(octets: Buffer): HeaderFields {
  const start = withLineEnds(octets.subarray(0, MAX_HEAD_OCTETS))
  return headerFields(start.subarray(0, headOf(start, 0, start.length).end))
}

class Walk {
  readonly leaves: Leaf[] = []
  readonly #octets: Buffer
  #parts = 0
  #searched = 0

  constructor(octets: Buffer) {
    this.#octets = octets
  }

  part(start: number, end: number, depth: number): HeaderFields {
    this.#parts++
    const { end: headEnd, bodyStart } = headOf(this.#octets, start, end)
    const fields = headerFields(this.#octets.subarray(start, headEnd))
    const contentType = (fields.get('content-type') ?? '').slice(0, MAX_FIELD_LENGTH)
    const type = leadingEssence(contentType) ?? 'text/plain'
    const boundary = type.startsWith('multipart/') ? parametersIn(contentType).get('boundary') : undefined
    const before = this.#parts
    const isSearched = boundary !== undefined && depth < MAX_DEPTH && this.#searched < MAX_SEARCHED
    if (isSearched && boundary !== '' && boundary.length <= MAX_BOUNDARY_LENGTH) {
      this.#searched += end - bodyStart
      for (const inner of partsOf(this.#octets.subarray(0, end), bodyStart, boundary)) {
        if (this.#parts >= MAX_PARTS) break
        this.part(inner.start, inner.end, depth + 1)
      }
    }
    if (this.#parts === before) this.leaves.push(this.#leaf(type, contentType, fields, bodyStart, end))
    return fields
  }

  #leaf(type: string, contentType: string, fields: HeaderFields, start: number, end: number): Leaf {
    const octets = this.#octets
    const encoding = (fields.get('content-transfer-encoding') ?? '').trim().toLowerCase()
    const read = (limit: number) => {
      // Base64 takes 78 octets for 57.
      const from = Math.min(start, end)
      const until = Math.min(end, from + (encoding === 'base64' ? Math.ceil(limit * 1.4) : limit))
      const written = octets.subarray(from, until)
      return encoding === 'quoted-printable' ? readQuotedPrintable(written) : decodeOctets(written, encoding)
    }
    return {
      type: type.startsWith('multipart/') ? 'text/plain' : type,
      fields,
      octets: read,
      text: (limit) =>
        decodeText(read(limit), parameterText(parametersIn(contentType), 'charset') ?? '').replaceAll('\r\n', '\n'),
    }
  }
}

const EMPTY_LINE = Buffer.from('\r\n\r\n')

/** Finds the end of a header. One that does not end within the limit has no body. */
function headOf(octets: Buffer, start: number, end: number): { end: number; bodyStart: number } {
  if (octets[start] === 13 && octets[start + 1] === 10) return { end: start, bodyStart: start + 2 }
  const limit = Math.min(end, start + MAX_HEAD_OCTETS)
  const at = octets.subarray(start, limit).indexOf(EMPTY_LINE)
  return at === -1 ? { end: limit, bodyStart: end } : { end: start + at + 2, bodyStart: start + at + 4 }
}

/** Replaces bare LF by CR LF. Returns the same buffer if there are none. */
function withLineEnds(octets: Buffer): Buffer {
  let bare = 0
  for (let at = 0; at < octets.length; at++) if (octets[at] === 10 && octets[at - 1] !== 13) bare++
  if (bare === 0) return octets
  const out = Buffer.allocUnsafe(octets.length + bare)
  let length = 0
  for (let at = 0; at < octets.length; at++) {
    const octet = octets[at] as number
    if (octet === 10 && octets[at - 1] !== 13) out[length++] = 13
    out[length++] = octet
  }
  return out
}
