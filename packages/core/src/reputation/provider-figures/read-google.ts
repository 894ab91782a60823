import { invalidParameter } from '../../platform/errors.ts'
import { csvRows } from './csv-rows.ts'
import { dayOf, domainIn, figureOf, fileProblem, requireFew, shown } from './figure-file.ts'
import type { ProviderFigure } from './store.ts'

/**
 * Reads figures of Google Postmaster Tools: the JSON of `domains.domainStats.query` or `domainStats.batchQuery` (API v2, granularity DAILY), or CSV with
 * a column "Date" and one for each figure. CSV of the dashboard does not name the domain, so `domain` must, unless it has a column "Domain".
 *
 * Throws parameterInvalid (file, domain).
 */
export function readGoogle(text: string, domain: string | undefined): ProviderFigure[] {
  return /^\ufeff?\s*[[{]/.test(text.slice(0, 1000)) ? readJson(text) : readCsv(text, domain)
}

type Json = Readonly<Record<string, unknown>>

function readJson(text: string): ProviderFigure[] {
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (error) {
    const [, position] = /position (\d+)/.exec((error as Error).message) ?? []
    const line = text.slice(0, position === undefined ? text.length : Number(position)).split('\n').length
    throw fileProblem(`line ${line}`, 'not valid JSON')
  }
  const stats = statsIn(value)
  requireFew({ rows: stats.length })
  return stats.map((stat, at) => readStat(stat, `entry ${at + 1} of domainStats`))
}

function statsIn(value: unknown): readonly unknown[] {
  if (!isObject(value)) throw fileProblem('line 1', 'must be an object')
  if (Array.isArray(value.results)) {
    return value.results.flatMap((result, at) => {
      if (isObject(result) && isObject(result.response)) return [...statsIn(result.response)]
      throw fileProblem(`entry ${at + 1} of results`, 'must have a response')
    })
  }
  if (!Array.isArray(value.domainStats)) throw fileProblem('line 1', 'must have the list domainStats')
  return value.domainStats
}

function readStat(stat: unknown, place: string): ProviderFigure {
  if (!isObject(stat)) throw fileProblem(place, 'must be an object')
  const { name, metric, date } = stat
  const [, subject] = typeof name === 'string' ? (/^domains\/([^/]{1,300})\//.exec(name) ?? []) : []
  if (subject === undefined) throw fileProblem(place, 'its name must be like domains/example.com/domainStats/…')
  if (typeof metric !== 'string') throw fileProblem(place, 'its metric must be text')
  if (!isObject(date)) throw fileProblem(place, 'must have a date (query with the granularity DAILY)')
  const day = dayOf(Number(date.year), Number(date.month), Number(date.day), place)
  return figureOf({ subject: domainIn(subject, place), day, name: metric, value: valueIn(stat.value, place) }, place)
}

const VALUES = ['intValue', 'floatValue', 'doubleValue', 'stringValue'] as const

function valueIn(value: unknown, place: string): string {
  if (isObject(value)) {
    const found = VALUES.map((name) => value[name]).find((one) => typeof one === 'string' || Number.isFinite(one))
    if (found !== undefined) return String(found)
    const list = isObject(value.stringList) ? value.stringList.values : undefined
    if (Array.isArray(list) && list.every((one) => typeof one === 'string')) return list.join(', ') || '(none)'
  }
  throw fileProblem(place, `its value ${shown(value)} must have ${VALUES.join(', ')} or stringList`)
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function readCsv(text: string, domain: string | undefined): ProviderFigure[] {
  const [heading, ...rows] = csvRows(text)
  if (!heading) throw fileProblem('line 1', 'the file is empty')
  const names = heading.cells.map((name) => name.toLowerCase())
  const [dateAt, domainAt] = [names.indexOf('date'), names.indexOf('domain')]
  if (dateAt === -1) throw fileProblem(`line ${heading.line}`, 'the heading must have a column "Date"')
  if (domainAt === -1 && domain === undefined) {
    throw invalidParameter('domain', 'is needed, because the file has no column "Domain"')
  }
  requireFew({ rows: rows.length, columns: names.length })
  return rows.flatMap(({ line, cells }) => {
    const place = `line ${line}`
    if (cells.length !== names.length) {
      throw fileProblem(place, `must have ${names.length} cells, as the heading has (got ${cells.length})`)
    }
    const subject = domainIn(domainAt === -1 ? (domain as string) : (cells[domainAt] as string), place)
    const day = csvDay(cells[dateAt] as string, place)
    return cells.flatMap((value, at) => {
      if (at === dateAt || at === domainAt || value === '') return []
      return [figureOf({ subject, day, name: heading.cells[at] as string, value }, place)]
    })
  })
}

/** Dates of the dashboard depend on its language: only forms that cannot be mistaken are read. */
function csvDay(text: string, place: string): string {
  const [, year, month, day] = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})$/.exec(text) ?? []
  if (year === undefined) throw fileProblem(place, `the date ${shown(text)} must be like 2030-01-31`)
  return dayOf(Number(year), Number(month), Number(day), place)
}
