import { type Readable, Transform } from 'node:stream'
import { CsvError, type Info, Parser } from 'csv-parse'
import { csvCell, unguardedCell } from '../platform/csv-cell.ts'
import { ServiceError } from '../platform/errors.ts'
import type { ImportRow } from './import.ts'
import { type Field, isOfAllMail, type Layout, layoutOf, reasonOfWord } from './provider-lists.ts'
import type { Suppression } from './suppression.ts'

/** Maximum length of a list, in bytes. */
export const MAX_CSV_BYTES = 128 * 1024 * 1024

/** Columns of an export. */
const COLUMNS = ['email', 'domain', 'reason', 'since', 'group'] as const

/** Rows per batch. */
const BATCH = 1000
/** Maximum size of a row in bytes; an unclosed quote would otherwise swallow the rest of the file. */
const ROW_LIMIT = 8192
/**
 * Maximum number of bytes without a line break: a row with all its quotes and commas has fewer. The parser counts only cell
 * contents, and takes 28 MB of commas for one row.
 */
const LINE_LIMIT = 4 * ROW_LIMIT
/** Bytes parsed per turn of the event loop: 4,000 empty rows, or 20 ms. */
const PIECE = 8192

interface Line {
  readonly record: readonly string[]
  readonly info: Info
}

/**
 * Returns the rows of a CSV body (RFC 4180; UTF-8; commas, semicolons or tabs) in batches, with their line numbers. The first
 * line names the columns, ours or another provider's, or is an entry.
 *
 * Throws bodyBlank, parameterMissing (email) if there is no column with addresses or domains, csvInvalid, tooLarge.
 */
export async function* readSuppressionCsv(body: Readable): AsyncGenerator<ImportRow[]> {
  const parser = parserOf(body)
  let layout: Layout | undefined
  let rows: ImportRow[] = []
  try {
    for await (const { record, info } of parser as AsyncIterable<Line>) {
      const isFirst = layout === undefined
      layout ??= requireLayout(record)
      if (!isFirst || !layout.hasHeader) rows.push(rowOf(layout, record, info.lines))
      if (rows.length < BATCH) continue
      yield rows
      rows = []
    }
  } catch (error) {
    throw error instanceof CsvError ? new ServiceError('csvInvalid', { values: { problem: problemOf(error) } }) : error
  } finally {
    // Read to the end: a response on a connection with unread data is lost when the connection is closed.
    body.unpipe()
    body.resume()
  }
  if (!layout) throw new ServiceError('bodyBlank')
  if (rows.length > 0) yield rows
}

function parserOf(body: Readable): Parser {
  const parser = new Parser({
    bom: true,
    info: true,
    delimiter: [',', ';', '\t'],
    max_record_size: ROW_LIMIT,
    // Tolerates files of other programs: rows that are short or empty, and quotes within a cell.
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
  })
  const counted = countedPieces()
  counted.once('error', (error) => parser.destroy(error))
  if (body.errored) parser.destroy(body.errored)
  // A client that disconnects early has not sent the whole list.
  body.once('error', (error) => parser.destroy(error))
  body.once('close', () => {
    if (!body.readableEnded)
      parser.destroy(
        new ServiceError('csvInvalid', { values: { problem: 'upload ended before the file was complete' } }),
      )
  })
  body.pipe(counted).pipe(parser)
  return parser
}

/** Passes the body on in pieces, yielding to other work between them. Fails with tooLarge, csvInvalid. */
function countedPieces(): Transform {
  let size = 0
  let line = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length
      if (size > MAX_CSV_BYTES) {
        return done(new ServiceError('tooLarge', { values: { limit: `${MAX_CSV_BYTES / 1024 / 1024} MB` } }))
      }
      const ends = [chunk.indexOf('\n'), chunk.indexOf('\r')].filter((at) => at !== -1)
      if (line + Math.min(...ends, chunk.length) > LINE_LIMIT) return done(rowTooLong())
      line =
        ends.length === 0
          ? line + chunk.length
          : chunk.length - 1 - Math.max(chunk.lastIndexOf('\n'), chunk.lastIndexOf('\r'))
      const push = (at: number): void => {
        this.push(chunk.subarray(at, at + PIECE))
        if (at + PIECE >= chunk.length) done()
        else setImmediate(push, at + PIECE)
      }
      setImmediate(push, 0)
    },
  })
}

const ROW_TOO_LONG = `a row exceeds ${ROW_LIMIT} bytes, possibly because of an unclosed quote`

function rowTooLong(): ServiceError {
  return new ServiceError('csvInvalid', { values: { problem: ROW_TOO_LONG } })
}

/** Never includes file content, which may be an address. */
function problemOf({ code, lines }: CsvError & { lines?: number }): string {
  const where = lines === undefined ? '' : `line ${lines}: `
  if (code === 'CSV_QUOTE_NOT_CLOSED') return `${where}unclosed quote`
  if (code === 'CSV_MAX_RECORD_SIZE') return `${where}${ROW_TOO_LONG}`
  return `${where}not valid CSV`
}

/** Throws parameterMissing (email). */
function requireLayout(first: readonly string[]): Layout {
  const layout = layoutOf(first.map((cell) => cell.replaceAll('"', '')))
  if (!layout) throw new ServiceError('parameterMissing', { values: { parameter: 'email' } })
  return layout
}

function rowOf({ fields, reason: ofAll }: Layout, record: readonly string[], line: number): ImportRow {
  const cells: Partial<Record<Field, string>> = {}
  for (const [at, field] of fields.entries()) {
    const cell = record[at]?.trim()
    if (field && cell) cells[field] ??= unguardedCell(cell)
  }
  const { email, domain, group, since, told, status, origin, tags } = cells
  // A list of one's own may have the columns of SendGrid's bounces, and one of our reasons where these have the server's words.
  const ownWord = told === undefined ? undefined : reasonOfWord(told)
  const word = cells.reason === undefined ? undefined : (reasonOfWord(cells.reason, origin) ?? cells.reason)
  const isOfSome = tags !== undefined && !isOfAllMail(tags)
  return {
    line,
    email,
    domain,
    group,
    since,
    status,
    reason: word ?? ownWord ?? ofAll,
    told: ownWord ? undefined : told,
    unreadable: isOfSome ? 'unsubscribes from mail with certain tags, and not from all mail' : undefined,
  }
}

/** Formats a list as CSV, page by page, in the format that an import accepts. */
export async function* suppressionCsv(pages: AsyncIterable<readonly Suppression[]>): AsyncGenerator<string> {
  yield `${COLUMNS.join(',')}\r\n`
  for await (const page of pages) yield page.map(lineOf).join('')
}

function lineOf({ scope, value, reason, since, group }: Suppression): string {
  const [email, domain] = scope === 'domain' ? ['', value] : [value, '']
  return `${[email, domain, reason, since.toISOString().slice(0, 19).replace('T', ' '), group || ''].map(csvCell).join(',')}\r\n`
}
