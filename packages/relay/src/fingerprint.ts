import { createHash } from 'node:crypto'
import { longWork } from '@postrider/core'
import { FIELDS, type Field } from './header.ts'

/** What a client makes anew each time it sends the same message again. */
const MADE_ANEW = new Set(['date', 'message-id', 'received'])
/** RFC 2046 5.1.1: at most 70 characters. */
const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"]{1,70})"|([^\s";]{1,70}))/i
const LONGEST_DELIMITER = 200
const LONGEST_BOUNDARY = 70
const END_OF_FIELD = /\r\n(?![ \t])/g
/** Delimiters that are looked for: behind a thousand parts a message is content. */
const MOST_DELIMITERS = 1000
/** Lines that are looked at, and octets that are hashed, before others may have a turn. */
const LINES = 10_000
const OCTETS = 1024 * 1024

/**
 * Under an idempotency key the same message counts as the same although a client that sends it again gives it a new date, id
 * and boundaries. Boundaries are left out where they part the message, and only there: a text that speaks of one is content.
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
    const head = fields.slice(at, at + FIELDS).filter(({ name }) => !MADE_ANEW.has(name))
    hash.update(head.map(({ name, value }) => `${name}:${settled(name, value, boundaries)}\n`).join(''))
    await work.pause()
  }
  hash.update('\n')
  const [first, ...others] = pieces as readonly [Buffer, ...Buffer[]]
  const body = [first.subarray(bodyStart), ...others]
  for (const piece of boundaries.size === 0 ? body : settledBody(Buffer.concat(body).toString('latin1'), boundaries)) {
    for (let at = 0; at < piece.length; at += OCTETS) {
      if (typeof piece === 'string') hash.update(piece.slice(at, at + OCTETS), 'latin1')
      else hash.update(piece.subarray(at, at + OCTETS))
      await work.pause()
    }
    await work.pause()
  }
  return hash.digest()
}

/** A Content-Type without its boundary, which is remembered. */
function settled(name: string, value: string, boundaries: Set<string>): string {
  if (name !== 'content-type') return value
  return value.replace(BOUNDARY, (_parameter, quoted?: string, bare?: string) => {
    boundaries.add(quoted ?? bare ?? '')
    return ''
  })
}

/**
 * The body with bare delimiters, and with part headers that have lost their boundaries too; now and then nothing, so that others
 * may have a turn.
 */
function* settledBody(text: string, boundaries: Set<string>): Generator<string> {
  let kept = 0
  let lines = 0
  let delimiters = 0
  let start = text.startsWith('--') ? 0 : nextDashes(text, 0)
  while (start !== -1 && delimiters < MOST_DELIMITERS) {
    if (++lines % LINES === 0) yield ''
    const end = lineEnd(text, start)
    const delimiter = end - start > LONGEST_DELIMITER ? undefined : readDelimiter(text.slice(start, end))
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
      yield* settledHead(text.slice(end, kept), boundaries)
    }
    start = nextDashes(text, kept)
  }
  yield text.slice(kept)
}

/** A line that begins with two dashes (RFC 2046 5.1.1). Blanks at its end were added on the way. */
function readDelimiter(line: string): { readonly boundary: string; readonly closes: boolean } | undefined {
  const rest = line.slice(2).trimEnd()
  const closes = rest.length > 2 && rest.endsWith('--')
  const boundary = closes ? rest.slice(0, -2) : rest
  return boundary.length > LONGEST_BOUNDARY ? undefined : { boundary, closes }
}

/** Field by field, several at a time. */
function* settledHead(head: string, boundaries: Set<string>): Generator<string> {
  let fields: string[] = []
  let start = 0
  for (const { index } of head.matchAll(END_OF_FIELD)) {
    fields.push(`${settledLine(head.slice(start, index), boundaries)}\r\n`)
    start = index + 2
    if (fields.length < LINES) continue
    yield fields.join('')
    fields = []
  }
  yield `${fields.join('')}${settledLine(head.slice(start), boundaries)}\r\n`
}

function settledLine(field: string, boundaries: Set<string>): string {
  const colon = field.indexOf(':')
  return settled(field.slice(0, colon).trim().toLowerCase(), field, boundaries)
}

/** Offset of the next line that begins with two dashes, behind the line that `from` is in; -1: there is none. */
function nextDashes(text: string, from: number): number {
  const found = text.indexOf('\r\n--', from)
  return found === -1 ? -1 : found + 2
}

function lineEnd(text: string, start: number): number {
  const end = text.indexOf('\r\n', start)
  return end === -1 ? text.length : end
}
