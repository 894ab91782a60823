import type { StatsAnswer } from '@postrider/core'
import { type Html, html, inputField, type Value } from '@postrider/ui'
import { type Answer, page } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import type { AccountCall } from '../../frame/call.ts'
import { byApi, emptyBox, pageHead, problemNote } from '../../frame/parts.ts'
import { account, type DashboardRoute } from '../../frame/routes.ts'
import { exportLink } from '../exports/export-link.ts'
import { bounceReasons } from './bounce-reasons.ts'
import { daysBefore, daysOf, MAX_POINTS, PERIODS, PRESETS, readSpan, type ShownSpan, spanBefore } from './span.ts'
import { engagementChart, outcomesChart } from './statistics-charts.ts'
import { statisticsFile } from './statistics-csv.ts'
import { sortOf, subjectOf } from './statistics-read.ts'
import { namesTable } from './statistics-table.ts'
import { statisticsTiles, sumOf } from './statistics-tiles.ts'
import { statisticsWords } from './statistics-words.ts'

export const STATISTICS: readonly DashboardRoute[] = [
  account('GET', '/statistics', 'stats', statistics, { mayBeOld: true }),
  account('GET', '/statistics.csv', 'stats', async (call) => statisticsFile(call), { mayBeOld: true }),
]

async function statistics(call: AccountCall): Promise<Answer> {
  const { core, account: own, language } = call
  const words = statisticsWords(language)
  const span = readSpan(call)
  const { first, last, period } = span
  const question = { accountId: own.id, first, last, wanted: { kind: 'total' }, offset: 0 } as const
  const shown = await attempt(() => core.stats.show({ ...question, period, limit: MAX_POINTS + 10 }, call.reads))
  const prior = await attempt(() =>
    core.stats.show({ ...question, ...spanBefore(span), period: 'month', limit: MAX_POINTS }, call.reads),
  )
  const head = pageHead(words.title, shown.ok ? lead(call, shown.value) : null, controls(call, span))
  const api = byApi(call, { method: 'GET', path: `/v2/stats?${apiQuery(span, '')}` })
  if (!shown.ok) {
    const body = html`${head}${presets(call, span)}${problemNote(call, shown.problem)}`
    return page({ title: words.title, status: shown.status, body })
  }
  const total = sumOf(shown.value)
  const isEmpty = Object.values(total).every((count) => count === 0)
  return page({
    title: words.title,
    body: html`${head}${presets(call, span)}${
      isEmpty
        ? emptyBox(call, 'chart', words.none, words.noneText)
        : html`${statisticsTiles(call, total, prior.ok ? sumOf(prior.value) : undefined, spanBefore(span))}
<div class="cols even"><section class="box w7">${outcomesChart(call, shown.value, span)}</section><section class="box w5">
  ${engagementChart(call, shown.value, span)}</section></div>
${await namesTable(call, span)}${await bounceReasons(call, span)}`
    }
${api}`,
  })
}

/** The query of v2's getStats for a span. */
function apiQuery({ first, last, period }: ShownSpan, by: string): string {
  return `startdate=${first}&enddate=${last}&aggregated_by=${period}${by}`
}

function lead({ format, language }: AccountCall, { asOf }: StatsAnswer): Value {
  const words = statisticsWords(language)
  if (asOf.event === 0) return words.lead
  return html`${words.lead} ${words.asOf(format.number(asOf.event))}${asOf.time && html`, ${format.time(asOf.time)}`}.`
}

/** The periods, the days as a form, and the download. */
function controls(call: AccountCall, span: ShownSpan): Html {
  const { icon, language, format, path } = call
  const words = statisticsWords(language)
  const { first, last, period, periods } = span
  const by = subjectOf(call)
  const seg = html`<nav class="seg" aria-label="${words.grain}">${PERIODS.filter((one) => periods.includes(one)).map(
    (one) =>
      html`<a href="${path('statistics')}?from=${first}&amp;to=${last}&amp;period=${one}&amp;by=${by}"${one === period && html` aria-current="true"`}>
        ${words.periods[one]}</a>`,
  )}</nav>`
  return html`${seg}<button class="btn" type="button" popovertarget="days">${icon('calendar')}${format.period(first, last).join(' – ')}</button>
    <div class="menu pad" id="days" popover><form class="stack s" method="get" action="${path('statistics')}">
<input type="hidden" name="by" value="${by}">${inputField({ name: 'from', label: words.from, type: 'date', value: first, required: true })}
  ${inputField({ name: 'to', label: words.to, type: 'date', value: last, required: true })}<button class="btn main" type="submit">${words.show}
  </button></form></div>
<a class="btn" href="${path('statistics.csv')}?from=${first}&amp;to=${last}&amp;by=${by}&amp;sort=${sortOf(call)}">${icon('download')}${words.csv}</a>
  ${exportLink(call, { from: first, to: last })}`
}

/** Links to the last week, month, quarter and year. */
function presets(call: AccountCall, { first, last }: ShownSpan): Html {
  const { format, language, now, path } = call
  const words = statisticsWords(language)
  const today = format.dayKey(now)
  return html`<nav class="pick" aria-label="${words.span}">${PRESETS.map((days) => {
    const from = daysBefore(today, days - 1)
    const isShown = last === today && first === from
    return html`<a class="chip" href="${path('statistics')}?from=${from}&amp;to=${today}&amp;by=${subjectOf(call)}"${
      isShown && html` aria-current="true"`
    }>${words.lastDays(days)}</a>`
  })}${
    daysOf(first, last) > 0 &&
    !PRESETS.some((days) => last === today && first === daysBefore(today, days - 1)) &&
    html`<span class="chip" aria-current="true">${words.ownDays(format.number(daysOf(first, last)))}</span>`
  }</nav>`
}
