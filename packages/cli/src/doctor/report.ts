import { AREAS, type Area, counted, type Status } from './check-result.ts'
import type { Examination } from './examine.ts'

export interface Report extends Examination {
  readonly status: Status
  readonly counts: Readonly<Record<Status, number>>
}

export function reportOf(examination: Examination): Report {
  const { checks } = examination
  const count = (status: Status) => checks.filter((check) => check.status === status).length
  const counts = { ok: count('ok'), warn: count('warn'), bad: count('bad') }
  const status = counts.bad > 0 ? 'bad' : counts.warn > 0 ? 'warn' : 'ok'
  return { status, counts, ...examination }
}

/** Minimum characters of a line; on narrower terminals the terminal breaks the lines. */
const MIN_COLUMNS = 60
const STATUS_WIDTH = 6

/** A list by area, with the correction below each result; in lines of at most `columns` characters, if that is known. */
export function reportText({ checks, notChecked, counts }: Report, columns: number | undefined): string {
  const nameWidth = Math.max(0, ...checks.map(({ name }) => name.length)) + 2
  const indent = 2 + STATUS_WIDTH + nameWidth
  const width = columns === undefined ? Number.POSITIVE_INFINITY : Math.max(columns, MIN_COLUMNS)
  const line = (label: string, name: string, texts: readonly string[]) =>
    `  ${label.padEnd(STATUS_WIDTH)}${name.padEnd(nameWidth)}${texts.flatMap((text) => wrapped(text, width - indent)).join(`\n${' '.repeat(indent)}`)}`
  const areas = AREAS.flatMap((area) => {
    const lines = [
      ...checks
        .filter((check) => check.area === area)
        .map(({ status, name, detail, fix }) => line(status, name, [detail, ...(fix === null ? [] : [`fix: ${fix}`])])),
      ...uncheckedOf(notChecked, area).map((text) => line('-', 'not checked', [text])),
    ]
    return lines.length === 0 ? [] : [[area, ...lines].join('\n')]
  })
  const summary = `${counted(checks.length, 'check')}: ${counts.ok} ok, ${counts.warn} warn, ${counts.bad} bad${
    notChecked.length > 0 ? `; ${notChecked.length} not made` : ''
  }`
  return [...areas, summary].join('\n\n')
}

/** One text per reason, with the names of the checks. */
function uncheckedOf(notChecked: Report['notChecked'], area: Area): string[] {
  const reasons = Map.groupBy(
    notChecked.filter((check) => check.area === area),
    ({ reason }) => reason,
  )
  return [...reasons].map(([reason, checks]) => `${checks.map(({ name }) => name).join(', ')}: ${reason}`)
}

/** Breaks a text between words; a word that is longer than a line has its own. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
