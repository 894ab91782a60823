import { type CsvRow, csvRows } from './csv-rows.ts'
import { addressIn, dayOf, figureOf, fileProblem, requireFew, shown } from './figure-file.ts'
import type { ProviderFigure } from './store.ts'

/** Columns with figures, by their position. The sample of MAIL FROM and the comments are not stored: they may contain addresses. */
const FIRST_COLUMNS = ['rcptCommands', 'dataCommands', 'messageRecipients', 'filterResult', 'complaintRate'] as const
/** The period of trap hits has one column or two. */
const TRAP_HITS_AT: Readonly<Record<number, number>> = { 13: 9, 14: 10 }

const FORMS: Readonly<Record<(typeof FIRST_COLUMNS)[number] | 'trapHits', readonly [RegExp, string]>> = {
  rcptCommands: [/^\d{1,15}$/, 'a number'],
  dataCommands: [/^\d{1,15}$/, 'a number'],
  messageRecipients: [/^\d{1,15}$/, 'a number'],
  filterResult: [/^(green|yellow|red)$/i, 'GREEN, YELLOW or RED'],
  complaintRate: [/^[<>]? ?\d{1,3}(\.\d{1,6})? ?%$/, 'a share such as < 0.1%'],
  trapHits: [/^\d{1,15}$/, 'a number'],
}

/**
 * Reads data of Microsoft SNDS (Smart Network Data Services) as CSV, with or without its heading: address, begin and end of activity, RCPT and DATA
 * commands, recipients, filter result, complaint rate, period of trap hits, trap hits, sample HELO and MAIL FROM, comments.
 *
 * Throws parameterInvalid (file).
 */
export function readSnds(text: string): ProviderFigure[] {
  const rows = csvRows(text)
  const withoutHeading = /^ip/i.test(rows[0]?.cells[0] ?? '') ? rows.slice(1) : rows
  if (withoutHeading.length === 0) throw fileProblem('line 1', 'no rows')
  requireFew({ rows: withoutHeading.length })
  return withoutHeading.flatMap(readRow)
}

function readRow({ line, cells }: CsvRow): ProviderFigure[] {
  const place = `line ${line}`
  const trapHitsAt = TRAP_HITS_AT[cells.length]
  if (trapHitsAt === undefined) throw fileProblem(place, `must have 13 or 14 cells (got ${cells.length})`)
  const subject = addressIn(cells[0] as string, place)
  const day = usDay(cells[1] as string, place)
  const named = [
    ...FIRST_COLUMNS.map((name, at) => [name, cells[3 + at] as string] as const),
    ['trapHits', cells[trapHitsAt] as string] as const,
  ]
  return named.flatMap(([name, value]) => {
    if (value === '') return []
    const [form, what] = FORMS[name]
    if (!form.test(value)) throw fileProblem(place, `${name} must be ${what} (got ${shown(value)})`)
    return [figureOf({ subject, day, name, value }, place)]
  })
}

/** Such as 12/31/2029 10:00 AM. */
function usDay(text: string, place: string): string {
  const [, month, day, year] = /^(\d{1,2})\/(\d{1,2})\/(\d{4})( |$)/.exec(text) ?? []
  if (year === undefined)
    throw fileProblem(place, `the begin of activity ${shown(text)} must be like 12/31/2029 10:00 AM`)
  return dayOf(Number(year), Number(month), Number(day), place)
}
