import type { CountsOfSpan, Domain, SpanOfCounts } from '@postrider/core'
import { chartKey, type Html, html, type IconName, lineChart, type Series, sparkline, type Tone } from '@postrider/ui'
import { type Answer, page } from '../../frame/answer.ts'
import { type AccountCall, field } from '../../frame/call.ts'
import { account, type DashboardRoute } from '../../frame/routes.ts'
import { trialNote, trialOf } from '../../frame/trial.ts'
import { stateOf } from '../webhooks/webhook-state.ts'
import { deliveryTimes } from './delivery-times.ts'
import { itemsOf, needsAttention } from './needs-attention.ts'
import { overviewWords } from './overview-words.ts'
import { isTooHigh, ratesOf, reputationMeters } from './reputation-meters.ts'

export const OVERVIEW: readonly DashboardRoute[] = [account('GET', '', null, overview)]

type SpanName = 'day' | 'week' | 'month'
const SPANS: Readonly<Record<SpanName, SpanOfCounts>> = {
  day: { unit: 'hour', count: 24 },
  week: { unit: 'hour', count: 168 },
  month: { unit: 'day', count: 30 },
}

const DAY = 86_400_000
/** Whole days before today whose delivery times are shown. */
const DAYS_BEFORE: Readonly<Record<SpanName, number>> = { day: 0, week: 6, month: 29 }

async function overview(call: AccountCall): Promise<Answer> {
  const { core, account: own, language, query, may } = call
  const words = overviewWords(language)
  const span = (Object.keys(SPANS) as SpanName[]).find((name) => name === field(query, 'span')) ?? 'day'
  const [counts, times, standing, month, trial] = await Promise.all([
    core.reputation.counts(own.id, SPANS[span]),
    core.stats.sums({
      accountId: own.id,
      subject: 'recipient_domain',
      first: call.format.dayKey(new Date(call.now.getTime() - DAYS_BEFORE[span] * DAY)),
      times: true,
      limit: 10,
      offset: 0,
    }),
    core.reputation.show(own.id),
    span === 'month' ? undefined : core.reputation.counts(own.id, SPANS.month),
    trialOf(call),
  ])
  const [domains, credit, webhooks, attention] = await Promise.all([
    may('domains') ? unwellDomains(call) : [],
    may('credits') ? core.credits.outlook(own.id) : undefined,
    may('webhooks.read') ? core.webhooks.list(own.id) : [],
    core.people.notices.attention(own.id),
  ])
  const total = sumOf(counts)
  const rates = ratesOf(call, sumOf(month ?? counts))
  const items = itemsOf(call, {
    ...attention,
    domains,
    holds: standing.holds,
    credit,
    rates: rates.filter(isTooHigh),
    webhooks: webhooks.filter((webhook) => ['failing', 'disabled'].includes(stateOf(webhook))),
  })
  const seg = html`<nav class="seg" aria-label="${words.span}">${(Object.keys(SPANS) as SpanName[]).map(
    (name) =>
      html`<a href="${call.path()}?span=${name}"${name === span && html` aria-current="true"`}>${words.spans[name]}</a>`,
  )}</nav>`
  const calm = total.accepted === 0 ? words.none : words.calm(call.format.share(total.delivered, total.accepted))
  const lead = items.length > 0 ? `${calm} ${words.attention}` : calm
  return page({
    title: words.title,
    live: 'events',
    body: html`<header class="head"><div><h1>${words.title}</h1><p class="lead">${lead}</p></div><div class="row">${seg}</div></header>${trialNote(call, trial)}
${tiles(call, counts, total)}
${throughput(call, counts, span)}
<div class="cols even"><section class="box w7">${deliveryTimes(call, times.stats, words.timesOf[span])}</section><section class="box w5">
  ${needsAttention(call, items)}</section></div>
${reputationMeters(call, rates)}`,
  })
}

async function unwellDomains({ core, account: own }: AccountCall): Promise<readonly Domain[]> {
  const { domains } = await core.domains.page(own.id, { status: '0', limit: 5, offset: 0 })
  return domains
}

type Total = Omit<CountsOfSpan, 'at'>

function sumOf(counts: readonly CountsOfSpan[]): Total {
  const total = { accepted: 0, delivered: 0, deferred: 0, hard: 0, soft: 0, complained: 0 }
  for (const one of counts) for (const name of Object.keys(total) as (keyof Total)[]) total[name] += one[name]
  return total
}

function tiles(
  { language, format, icon, path, may }: AccountCall,
  counts: readonly CountsOfSpan[],
  total: Total,
): Html {
  const words = overviewWords(language)
  const bounced = total.hard + total.soft
  const link = (state: string) => may('events') && `${path('messages')}${state === '' ? '' : `?state=${state}`}`
  const tile = (
    name: string,
    sign: readonly [IconName, Tone],
    value: number,
    small: string,
    line: readonly number[],
    to: string | false,
    colour: Series['colour'] = 1,
  ) => {
    const shown = html`<span class="k">${icon(...sign)}${name}</span><span class="v">${format.number(value)}</span><small>${small}</small>
      ${sparkline(line, colour)}`
    return to === false ? html`<div class="tile">${shown}</div>` : html`<a class="tile" href="${to}">${shown}</a>`
  }
  const of = (part: number, all: number, what: string) => `${format.share(part, all)} ${what}`
  return html`<section class="tiles" aria-label="${words.title}">
${tile(
  words.accepted,
  ['mail', 'idle'],
  total.accepted,
  '',
  counts.map(({ accepted }) => accepted),
  link(''),
)}
${tile(
  words.delivered,
  ['s-delivered', 'good'],
  total.delivered,
  of(total.delivered, total.accepted, words.ofAccepted),
  counts.map(({ delivered }) => delivered),
  link('delivered'),
  2,
)}
${tile(
  words.deferred,
  ['s-deferred', 'wait'],
  total.deferred,
  words.tries,
  counts.map(({ deferred }) => deferred),
  link('deferred'),
  3,
)}
${tile(
  words.bounced,
  ['s-bounced', 'bad'],
  bounced,
  of(bounced, total.accepted, words.ofAccepted),
  counts.map(({ hard, soft }) => hard + soft),
  link('bounced'),
  4,
)}
${tile(
  words.complained,
  ['s-complaint', 'bad'],
  total.complained,
  of(total.complained, total.delivered, words.ofDelivered),
  counts.map(({ complained }) => complained),
  may('suppressions.read') && path('suppressions?reason=abuse'),
  4,
)}
</section>`
}

function throughput({ language, format, now }: AccountCall, counts: readonly CountsOfSpan[], span: SpanName): Html {
  const words = overviewWords(language)
  const byDay = SPANS[span].unit === 'day'
  const series: readonly Series[] = [
    { name: words.accepted, colour: 1, values: counts.map(({ accepted }) => accepted) },
    { name: words.delivered, colour: 2, values: counts.map(({ delivered }) => delivered) },
    { name: words.deferred, colour: 3, values: counts.map(({ deferred }) => deferred) },
  ]
  const total = sumOf(counts)
  const labels = counts.map(({ at }) =>
    byDay ? format.dayOfKey(at.toISOString().slice(0, 10)) : format.hour(at, span !== 'day'),
  )
  const latest = counts.at(-1)?.at
  const chart = lineChart({
    series,
    labels,
    sentence: words.sentence(format.number(total.accepted), format.number(total.delivered), words.spans[span]),
    number: format.number,
    table: { summary: words.asTable, first: byDay ? words.dayHead : words.hour },
    incomplete: latest && now.getTime() < latest.getTime() + (byDay ? DAY : DAY / 24) ? words.soFar : undefined,
  })
  return html`<section class="box"><header><h2>${words.throughput}</h2><p>${byDay ? words.perDay : words.perHour}</p>${chartKey(series)}</header>
    <div class="pad">${chart}</div></section>`
}
