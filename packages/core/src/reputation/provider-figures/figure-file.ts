import { isIP } from 'node:net'
import { parseDomain } from '../../mime/address.ts'
import { invalidParameter } from '../../platform/errors.ts'
import type { ProviderFigure } from './store.ts'

/** Bounds of a file. */
export const FIGURE_FILE = { maxBytes: 10 * 1024 * 1024, maxRows: 100_000, maxFigures: 600_000 } as const
const MAX_LENGTH = { name: 100, value: 500 } as const

/** Returns the error about a place in the file, such as "line 3". Nothing is imported. */
export function fileProblem(place: string, problem: string): Error {
  return invalidParameter('file', `has a mistake in ${place}: ${problem}; nothing was imported`)
}

/** A text of the file, for an error. */
export function shown(text: unknown): string {
  return JSON.stringify(text)?.slice(0, 60) ?? 'nothing'
}

/** Throws parameterInvalid (file) unless it is a domain name. */
export function domainIn(text: string, place: string): string {
  const name = text.length <= 300 ? parseDomain(text) : undefined
  if (name === undefined || !name.includes('.')) throw fileProblem(place, `${shown(text)} is not a domain name`)
  return name
}

/** Throws parameterInvalid (file) unless it is an IP address. */
export function addressIn(text: string, place: string): string {
  if (isIP(text) === 0) throw fileProblem(place, `${shown(text)} is not an IP address`)
  return text
}

/** Throws parameterInvalid (file) unless there is such a day. */
export function dayOf(year: number, month: number, day: number, place: string): string {
  const date = new Date(Date.UTC(year, month - 1, day))
  const isDay = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
  if (!isDay || year < 2000 || year > 2200) throw fileProblem(place, 'its date does not exist')
  return date.toISOString().slice(0, 10)
}

/** Throws parameterInvalid (file) if a text is too long, or contains control characters. */
export function figureOf(figure: ProviderFigure, place: string): ProviderFigure {
  for (const field of ['name', 'value'] as const) {
    const text = figure[field]
    if (text === '' || text.length > MAX_LENGTH[field] || /\p{C}/u.test(text)) {
      throw fileProblem(place, `the ${field} ${shown(text)} must have 1 to ${MAX_LENGTH[field]} printable characters`)
    }
  }
  return figure
}

/** Throws parameterInvalid (file). */
export function requireFew({ rows, columns = 1 }: { readonly rows: number; readonly columns?: number }): void {
  const { maxRows, maxFigures } = FIGURE_FILE
  if (rows > maxRows) throw invalidParameter('file', `must have at most ${maxRows} rows (got ${rows})`)
  if (rows * columns > maxFigures) throw invalidParameter('file', `must have at most ${maxFigures} figures`)
}
