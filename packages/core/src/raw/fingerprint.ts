import { createHash } from 'node:crypto'
import { longWork } from '../platform/concurrency/turns.ts'
import { FIELDS, type Field } from './header.ts'

/** Fields that a client generates again each time it sends the same message. */
const REGENERATED = new Set(['date', 'message-id', 'received', 'x-pr-traceparent'])
/** RFC 2046 5.1.1: at most 70 characters. */
const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"]{1,70})"|([^\s";]{1,70}))/i
const MAX_DELIMITER_LENGTH = 200
const MAX_BOUNDARY_LENGTH = 70
const END_OF_FIELD = /\r\n(?![ \t])/g
/** Maximum number of delimiters considered; after a thousand parts, lines count as content. */
const MAX_DELIMITERS = 1000
/** Lines scanned and bytes hashed before other sessions get a slot. */
const LINES_PER_SLICE = 10_000
const BYTES_PER_SLICE = 1024 * 1024

/**
 * Hash by which a message sent again under its idempotency key is recognized, although the client gives it a new date, message id and
 * boundaries. Boundaries are omitted only where they delimit parts; a text that quotes one is content.
 */
export async function fingerprintOf(
  recipients: readonly string[],
  fields: readonly Field[],
  pieces: readonly Buffer[],
  bodyStart: number,
): Promise<Buffer> {
  const hash = createHash('sha256')
    .update('smtp')
    .update(JSON.stringify([...recipients].sort()))
  const boundaries = new Set<string>()
  const work = longWork()
  for (let at = 0; at < fields.length; at += FIELDS) {
    const head = fields.slice(at, at + FIELDS).filter(({ name }) => !REGENERATED.has(name))
    hash.update(head.map(({ name, value }) => `${name}:${withoutBoundary(name, value, boundaries)}\n`).join(''))
    await work.pause()
  }
  hash.update('\n')
  const [first, ...others] = pieces as readonly [Buffer, ...Buffer[]]
  const body = [first.subarray(bodyStart), ...others]
  for (const piece of boundaries.size === 0
    ? body
    : bodyWithoutBoundaries(Buffer.concat(body).toString('latin1'), boundaries)) {
    for (let at = 0; at < piece.length; at += BYTES_PER_SLICE) {
      if (typeof piece === 'string') hash.update(piece.slice(at, at + BYTES_PER_SLICE), 'latin1')
      else hash.update(piece.subarray(at, at + BYTES_PER_SLICE))
      await work.pause()
    }
    await work.pause()
  }
  return hash.digest()
}

/** A Content-Type without its boundary, which is added to `boundaries`. */
function withoutBoundary(name: string, value: string, boundaries: Set<string>): string {
  if (name !== 'content-type') return value
  return value.replace(BOUNDARY, (_parameter, quoted?: string, bare?: string) => {
    boundaries.add(quoted ?? bare ?? '')
    return ''
  })
}

/**
 * The body with delimiters and part headers without their boundaries. Yields an empty string from time to time, so that other sessions
 * get a slot.
 */
function* bodyWithoutBoundaries(text: string, boundaries: Set<string>): Generator<string> {
  let kept = 0
  let lines = 0
  let delimiters = 0
  let start = text.startsWith('--') ? 0 : nextDashes(text, 0)
  while (start !== -1 && delimiters < MAX_DELIMITERS) {
    if (++lines % LINES_PER_SLICE === 0) yield ''
    const end = lineEnd(text, start)
    const delimiter = end - start > MAX_DELIMITER_LENGTH ? undefined : readDelimiter(text.slice(start, end))
    if (!delimiter || !boundaries.has(delimiter.boundary)) {
      start = nextDashes(text, start)
      continue
    }
    delimiters++
    yield `${text.slice(kept, start)}--${delimiter.closes ? '--' : ''}`
    kept = end
    if (!delimiter.closes) {
      const empty = text.indexOf('\r\n\r\n', end)
      kept = empty === -1 ? text.length : empty
      yield* headWithoutBoundaries(text.slice(end, kept), boundaries)
    }
    start = nextDashes(text, kept)
  }
  yield text.slice(kept)
}

/** A line that begins with two dashes (RFC 2046 5.1.1). Trailing blanks were added in transit. */
function readDelimiter(line: string): { readonly boundary: string; readonly closes: boolean } | undefined {
  const rest = line.slice(2).trimEnd()
  const closes = rest.length > 2 && rest.endsWith('--')
  const boundary = closes ? rest.slice(0, -2) : rest
  return boundary.length > MAX_BOUNDARY_LENGTH ? undefined : { boundary, closes }
}

/** Several fields per slice. */
function* headWithoutBoundaries(head: string, boundaries: Set<string>): Generator<string> {
  let fields: string[] = []
  let start = 0
  for (const { index } of head.matchAll(END_OF_FIELD)) {
    fields.push(`${fieldWithoutBoundary(head.slice(start, index), boundaries)}\r\n`)
    start = index + 2
    if (fields.length < LINES_PER_SLICE) continue
    yield fields.join('')
    fields = []
  }
  yield `${fields.join('')}${fieldWithoutBoundary(head.slice(start), boundaries)}\r\n`
}

function fieldWithoutBoundary(field: string, boundaries: Set<string>): string {
  const colon = field.indexOf(':')
  return withoutBoundary(field.slice(0, colon).trim().toLowerCase(), field, boundaries)
}

/** Offset of the next line that begins with two dashes after the line that contains `from`; -1 if there is none. */
function nextDashes(text: string, from: number): number {
  const found = text.indexOf('\r\n--', from)
  return found === -1 ? -1 : found + 2
}

function lineEnd(text: string, start: number): number {
  const end = text.indexOf('\r\n', start)
  return end === -1 ? text.length : end
}
