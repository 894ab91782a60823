import type { Counts, StatsAnswer } from '@postrider/core'
import { chartKey, type Html, html, lineChart, type Series } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import type { ShownSpan } from './span.ts'
import { statisticsWords } from './statistics-words.ts'

type Line = readonly [name: string, colour: Series['colour'], of: (counts: Counts) => number]

/** The outcomes of mail: accepted, delivered and bounced. */
export function outcomesChart(call: AccountCall, answer: StatsAnswer, span: ShownSpan): Html {
  const words = statisticsWords(call.language)
  return chart(call, answer, span, words.outcomes, [
    [words.accepted, 1, ({ processed }) => processed],
    [words.delivered, 2, ({ sent }) => sent],
    [words.soft, 3, ({ soft_bounced, expired }) => soft_bounced + expired],
    [words.hard, 4, ({ hard_bounced }) => hard_bounced],
  ])
}

/** Opens and clicks by people, without those of link scanners and image proxies. */
export function engagementChart(call: AccountCall, answer: StatsAnswer, span: ShownSpan): Html {
  const words = statisticsWords(call.language)
  return chart(call, answer, span, words.engagement, [
    [words.opened, 2, ({ unique_opened }) => unique_opened],
    [words.clicked, 4, ({ unique_clicked }) => unique_clicked],
    [words.unsubscribed, 5, ({ unsubscribed }) => unsubscribed],
  ])
}

function chart(
  { format, language, now }: AccountCall,
  { periods }: StatsAnswer,
  { first, last, period }: ShownSpan,
  title: string,
  lines: readonly Line[],
): Html {
  const words = statisticsWords(language)
  const series = lines.map(([name, colour, of]) => ({
    name,
    colour,
    values: periods.map(({ stats }) => stats.reduce((sum, { counts }) => sum + of(counts), 0)),
  }))
  const labels = periods.map(({ date }) => format.dayOfKey(date))
  const totals = series.map(({ name, values }) => `${name} ${format.number(values.reduce((sum, one) => sum + one, 0))}`)
  const drawn = lineChart({
    series,
    labels,
    sentence: words.sentence(...format.period(first, last), totals.join(', ')),
    number: format.number,
    table: { summary: words.asTable, first: words.periods[period] },
    incomplete: last >= format.dayKey(now) ? words.soFar : undefined,
  })
  return html`<header><h2>${title}</h2><p>${words.per[period]}</p>${chartKey(series)}</header><div class="pad">${drawn}</div>`
}
