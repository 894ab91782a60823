import { Readable } from 'node:stream'
import { csvCell, type NamedCounts } from '@postrider/core'
import { type Answer, file } from '../../frame/answer.ts'
import type { AccountCall } from '../../frame/call.ts'
import { failurePage } from '../../frame/error-pages.ts'
import { readSpan } from './span.ts'
import { readSums, type SumsRead, subjectOf } from './statistics-read.ts'
import { statisticsWords } from './statistics-words.ts'

/** Names read at once. */
const PAGE = 1000
const METRICS = [
  'processed',
  'sent',
  'deferred',
  'soft_bounced',
  'expired',
  'hard_bounced',
  'dropped',
  'invalid',
  'opened',
  'unique_opened',
  'clicked',
  'unique_clicked',
  'unsubscribed',
  'complained',
] as const

/**
 * The table of the page as CSV, with all names and exact numbers; delivery times are in seconds. If a later part cannot be read, the download
 * breaks off: a file with a gap would look like a whole one.
 */
export async function statisticsFile(call: AccountCall): Promise<Answer> {
  const span = readSpan(call)
  const begin = await readSums(call, span, { limit: PAGE, offset: 0 })
  if (!begin.ok) {
    const { title } = statisticsWords(call.language)
    return failurePage({ status: begin.status, title, text: begin.problem }, call)
  }
  const by = subjectOf(call)
  async function* rows(first: SumsRead): AsyncGenerator<string> {
    yield `${[by, ...METRICS, 'p50', 'p90', 'p99'].join(',')}\r\n`
    yield first.stats.map(row).join('')
    for (let offset = PAGE; offset < first.total; offset += PAGE) {
      const next = await readSums(call, span, { limit: PAGE, offset })
      if (!next.ok) throw new Error(`the statistics cannot be read further than ${offset} names: ${next.problem}`)
      yield next.value.stats.map(row).join('')
    }
  }
  const name = `statistics-${by}-${span.first}-${span.last}.csv`
  return file({
    type: 'text/csv; charset=utf-8',
    body: Readable.from(rows(begin.value)),
    headers: { 'content-disposition': `attachment; filename="${name}"` },
  })
}

function row({ name, counts, deliveryTime: time }: NamedCounts): string {
  const times = [time?.p50 ?? '', time?.p90 ?? '', time?.p99 ?? '']
  return `${[name ?? '(other)', ...METRICS.map((metric) => counts[metric]), ...times].map(csvCell).join(',')}\r\n`
}
