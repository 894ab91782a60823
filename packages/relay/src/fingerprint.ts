import { createHash } from 'node:crypto'
import type { Field } from './header.ts'

/** What a client makes anew each time it sends the same message again. */
const MADE_ANEW = new Set(['date', 'message-id', 'received'])
/** RFC 2046 5.1.1: at most 70 characters. */
const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"]{1,70})"|([^\s";]{1,70}))/i
const LONGEST_DELIMITER = 200
const DELIMITER = /^--(.{1,70}?)(--)?[ \t]*$/

/**
 * Under an idempotency key the same message counts as the same although a client that sends it again gives it a new date, id
 * and boundaries. Boundaries are left out where they part the message, and only there: a text that speaks of one is content.
 */
export function fingerprintOf(
  recipients: readonly string[],
  fields: readonly Field[],
  message: Buffer,
  bodyStart: number,
): Buffer {
  const hash = createHash('sha256')
    .update('smtp')
    .update(JSON.stringify([...recipients].sort()))
  const boundaries = new Set<string>()
  for (const { name, value } of fields) {
    if (!MADE_ANEW.has(name)) hash.update(`${name}:${settled(name, value, boundaries)}\n`)
  }
  hash.update('\n')
  for (const piece of settledBody(message.toString('latin1', bodyStart), boundaries)) hash.update(piece, 'latin1')
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

/** The body with bare delimiters, and with part headers that have lost their boundaries too. */
function* settledBody(text: string, boundaries: Set<string>): Generator<string> {
  if (boundaries.size === 0) {
    yield text
    return
  }
  let kept = 0
  let start = text.startsWith('--') ? 0 : nextDashes(text, 0)
  while (start !== -1) {
    const end = lineEnd(text, start)
    const delimiter = end - start > LONGEST_DELIMITER ? null : DELIMITER.exec(text.slice(start, end))
    if (!delimiter || !boundaries.has(delimiter[1] as string)) {
      start = nextDashes(text, start)
      continue
    }
    yield `${text.slice(kept, start)}--${delimiter[2] ?? ''}`
    kept = end
    if (delimiter[2] === undefined) {
      const empty = text.indexOf('\r\n\r\n', end)
      kept = empty === -1 ? text.length : empty
      for (const field of text.slice(end, kept).split(/\r\n(?![ \t])/)) yield `${settledLine(field, boundaries)}\r\n`
    }
    start = nextDashes(text, kept)
  }
  yield text.slice(kept)
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
