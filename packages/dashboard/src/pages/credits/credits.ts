import type { CreditOutlook } from '@postrider/core'
import { html, type Value } from '@postrider/ui'
import { type Answer, page } from '../../frame/answer.ts'
import { type AccountCall, field } from '../../frame/call.ts'
import { byApi, pageHead } from '../../frame/parts.ts'
import { account, type DashboardRoute } from '../../frame/routes.ts'
import { frameWords } from '../../frame/words/frame-words.ts'
import { creditTiles, DAYS, daysShown, forecastText, historyBox, useChart } from './credit-parts.ts'
import { creditsWords } from './credits-words.ts'

export const CREDITS: readonly DashboardRoute[] = [account('GET', '/credits', 'credits', creditsPage)]

const PAGE = 25

async function creditsPage(call: AccountCall): Promise<Answer> {
  const { core, account: own, language, now, query } = call
  const words = creditsWords(language)
  const before = /^\d{1,15}$/.exec(field(query, 'before'))?.[0]
  const [outlook, usage, entries] = await Promise.all([
    core.credits.outlook(own.id),
    core.credits.usage(own.id, { ...daysShown(now), limit: DAYS, offset: 0 }),
    core.audit.latest(own.id, {
      before: before === undefined ? undefined : Number(before),
      limit: PAGE + 1,
      action: 'credit.',
    }),
  ])
  const shown = entries.slice(0, PAGE)
  const older = entries.length > PAGE ? shown.at(-1)?.number : undefined
  return page({
    title: words.title,
    live: 'events',
    body: html`${pageHead(words.title, words.lead)}${lowNote(call, outlook)}
${creditTiles(call, outlook)}
${useChart(call, usage)}
${historyBox(call, shown, foot(call, older, before !== undefined))}
${byApi(call, { method: 'GET', path: `/v2/credit?startdate=${daysShown(now).first}&enddate=${daysShown(now).last}` })}`,
  })
}

/** From 80 % on: how much is used, and when the rest is. */
function lowNote(call: AccountCall, { credit, granted, isLow, runsOutAt }: CreditOutlook): Value {
  if (!isLow || granted === null) return null
  const { format, icon, language } = call
  const words = creditsWords(language)
  const available = credit.available ?? 0
  const tone = available === 0 ? 'bad' : 'wait'
  const title = available === 0 ? words.none : words.low(format.share(granted - available, granted))
  const forecast = available === 0 ? '' : forecastText(call, runsOutAt)
  return html`<div class="note ${tone}">${icon('warn', tone)}<div><b>${title}</b><p>${forecast !== '' && html`${forecast}. `}${words.lowText}</p></div></div>`
}

function foot({ icon, language, path }: AccountCall, before: number | undefined, isLater: boolean): Value {
  if (before === undefined && !isLater) return null
  const words = frameWords(language)
  return html`<footer class="more"><span>${isLater && html`<a class="btn s" href="${path('credits')}">${icon('left')}${words.newest}</a>`}</span>
    <span class="acts">${before !== undefined && html`<a class="btn s" href="${path('credits')}?before=${before}">${words.older}${icon('right')}</a>`}
    </span></footer>`
}
