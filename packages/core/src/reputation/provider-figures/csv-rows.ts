import { invalidParameter } from '../../platform/errors.ts'
import { FIGURE_FILE, fileProblem } from './figure-file.ts'

/** A row with the number of its first line. */
export interface CsvRow {
  readonly line: number
  readonly cells: readonly string[]
}

const MAX_CELLS = 100

/** Parses CSV (RFC 4180); a line may also end with LF alone. Empty lines are skipped. Throws parameterInvalid (file). */
export function csvRows(text: string): CsvRow[] {
  const rows: CsvRow[] = []
  let [line, at] = [1, text.startsWith('\ufeff') ? 1 : 0]
  while (at < text.length) {
    const begin = line
    const cells: string[] = []
    for (let isOpen = true; isOpen; ) {
      const cell = text[at] === '"' ? quotedCell(text, at, begin) : plainCell(text, at)
      cells.push(cell.value)
      line += cell.lines
      isOpen = text[cell.end] === ','
      at = cell.end + (isOpen ? 1 : 0)
      if (cells.length > MAX_CELLS) throw fileProblem(`line ${begin}`, `more than ${MAX_CELLS} cells`)
    }
    if (text[at] === '\r') at++
    if (at < text.length && text[at] !== '\n')
      throw fileProblem(`line ${line}`, 'text after the closing quotation mark')
    at++
    line++
    if (cells.length === 1 && cells[0] === '') continue
    rows.push({ line: begin, cells })
    // With the heading.
    if (rows.length > FIGURE_FILE.maxRows + 1) {
      throw invalidParameter('file', `must have at most ${FIGURE_FILE.maxRows} rows`)
    }
  }
  return rows
}

interface Cell {
  readonly value: string
  readonly end: number
  /** Line breaks in it. */
  readonly lines: number
}

function plainCell(text: string, start: number): Cell {
  let end = start
  while (end < text.length && text[end] !== ',' && text[end] !== '\n') end++
  const value = text.slice(start, end)
  return value.endsWith('\r') && text[end] !== ','
    ? { value: value.slice(0, -1).trim(), end, lines: 0 }
    : { value: value.trim(), end, lines: 0 }
}

function quotedCell(text: string, start: number, line: number): Cell {
  let [value, from] = ['', start + 1]
  for (;;) {
    const quote = text.indexOf('"', from)
    if (quote === -1) throw fileProblem(`line ${line}`, 'a quotation mark is not closed')
    value += text.slice(from, quote)
    if (text[quote + 1] !== '"') {
      return { value: value.trim(), end: quote + 1, lines: value.split('\n').length - 1 }
    }
    value += '"'
    from = quote + 2
  }
}
