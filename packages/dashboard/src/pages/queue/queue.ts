import { QUEUE_GROUPINGS, type QueueGroup, type QueueGrouping, type RecentOverview } from '@postrider/core'
import { foreign, type Html, html, type Value } from '@postrider/ui'
import { type Answer, page } from '../../frame/answer.ts'
import { field, type UserCall } from '../../frame/call.ts'
import { operatorPath } from '../../frame/operator.ts'
import { byApi, emptyBox, pageHead } from '../../frame/parts.ts'
import { type DashboardRoute, operators } from '../../frame/routes.ts'
import { jobsWords } from '../jobs/jobs-words.ts'
import { figuresText, levelMark, ruleText } from '../operator/standing.ts'
import { PLACE } from './destination-page.ts'
import { destinationName, isLimited, isPausable } from './destination-state.ts'
import { ageText, destinationTable, groupTable, perMinute, waitingOf } from './queue-table.ts'
import { queueWords } from './queue-words.ts'
import { refusedBox } from './refused.ts'

export const QUEUE: readonly DashboardRoute[] = [operators('GET', '/operator/queue', queuePage), ...PLACE]

/** Rows of a page; beyond that there is the command. */
const MAX_ROWS = 100
const MAX_HOLDS = 20

async function queuePage(call: UserCall): Promise<Answer> {
  const { core, language, query } = call
  const words = queueWords(language)
  const by = QUEUE_GROUPINGS.find((one) => one === field(query, 'by')) ?? 'provider'
  const [overview, holds] = await Promise.all([core.queue.recentOverview(by), core.reputation.list()])
  const waiting = holds.filter(({ level }) => level !== 'warned')
  const ofAccounts = by === 'account' ? overview.groups.slice(0, MAX_ROWS).map(({ name }) => Number(name)) : []
  const names = await core.accounts.names([
    ...ofAccounts,
    ...waiting.slice(0, MAX_HOLDS).map(({ accountId }) => accountId),
  ])
  return page({
    title: words.title,
    live: 'clock',
    body: html`${pageHead(words.title, words.lead, html`<a class="btn" href="${operatorPath('queue/jobs')}">${jobsWords(language).title}</a>`)}
${overview.workers === 0 && noWorker(call)}
${tiles(call, overview)}
${groupings(call, by)}
${groupBox(call, overview, names)}
${refusedBox(call, overview.refused)}
${waiting.length > 0 && holdsBox(call, waiting.slice(0, MAX_HOLDS), names)}
${byApi(call, { method: 'GET', path: `/operator/v1/queues?by=${by}` })}`,
  })
}

function groupings({ language }: UserCall, by: QueueGrouping): Html {
  const words = queueWords(language)
  return html`<nav class="pick" aria-label="${words.by}">${QUEUE_GROUPINGS.map(
    (one) =>
      html`<a class="chip" href="${operatorPath('queue', { by: one })}"${one === by && html` aria-current="true"`}>${words.groupings[one]}</a>`,
  )}</nav>`
}

function noWorker({ icon, language }: UserCall): Html {
  const words = queueWords(language)
  return html`<div class="note bad" role="alert">${icon('warn', 'bad')}<div><b>${words.noWorker}</b><p>${words.noWorkerText}</p></div></div>`
}

function tiles(call: UserCall, { by, groups, workers }: RecentOverview): Html {
  const { format, language } = call
  const words = queueWords(language)
  const sum = (of: (group: QueueGroup) => number) => groups.reduce((total, group) => total + of(group), 0)
  const waiting = sum((group) => waitingOf(group).count)
  const isMore = groups.some(({ total }) => total.more)
  const [oldest] = groups
    .filter((group) => group.oldest !== null)
    .sort((a, b) => (a.oldest as Date).getTime() - (b.oldest as Date).getTime())
  const oldestAt = by === 'provider' && oldest?.name ? words.at(destinationName(call, oldest.name)) : ''
  const destinations = groups.filter(({ name }) => isPausable(name))
  const slowed = destinations.filter(isLimited)
  const tile = (name: string, value: Value, small: string) =>
    html`<div class="tile"><span class="k">${name}</span><span class="v">${value}</span><small>${small}</small></div>`
  const connections = format.number(sum(({ limits }) => limits?.connections.used ?? 0))
  return html`<section class="tiles" aria-label="${words.now}">
${tile(words.waiting, `${isMore ? '>' : ''}${format.number(waiting)}`, words.inFlight(format.number(sum(({ inFlight }) => inFlight))))}
${tile(words.oldest, oldest ? ageText(call, oldest) : '–', oldestAt)}
${tile(words.tried, format.number(sum((group) => perMinute(group) ?? 0)), words.lastMinutes)}
${by === 'provider' && tile(words.connections, connections, words.ofWorkers(format.number(workers)))}
${by === 'provider' && tile(words.slowed, format.number(slowed.length), words.ofDestinations(format.number(destinations.length)))}
</section>`
}

function groupBox(call: UserCall, overview: RecentOverview, names: ReadonlyMap<number, string>): Html {
  const { format, language, query } = call
  const words = queueWords(language)
  const { by, groups, partial, readAt } = overview
  const isSlowed = by === 'provider' && field(query, 'only') === 'slowed'
  const found = isSlowed ? groups.filter(isLimited) : groups
  if (found.length === 0 && !isSlowed) return emptyBox(call, 'queue', words.empty, words.emptyText)
  const shown = found.slice(0, MAX_ROWS)
  const others = found.length - shown.length + (isSlowed ? 0 : overview.others)
  return html`<section class="box"><header><h2>${words.groups[by]}</h2>${by === 'provider' && filter(call, isSlowed)}</header>${
    found.length === 0
      ? html`<div class="void"><h3>${words.noneSlowed}</h3><p>${words.noneSlowedText}</p></div>`
      : by === 'provider'
        ? destinationTable(call, shown, overview.refused.places)
        : groupTable(call, by, { groups: shown, names })
  }<footer>${words.readAt} ${format.time(readAt)}.${partial && html` ${words.partial}`}${others > 0 && html` ${words.more(format.number(others))}`}
    </footer></section>`
}

function filter({ language }: UserCall, isSlowed: boolean): Html {
  const words = queueWords(language)
  const link = (label: string, only: string | undefined, is: boolean) =>
    html`<a href="${operatorPath('queue', { only })}"${is && html` aria-current="true"`}>${label}</a>`
  return html`<nav class="seg push" aria-label="${words.which}">${link(words.all, undefined, !isSlowed)}${link(words.onlySlowed, 'slowed', isSlowed)}</nav>`
}

type Holds = Awaited<ReturnType<UserCall['core']['reputation']['list']>>

/** Holds are of accounts, not of destinations: they are shown apart. */
function holdsBox(call: UserCall, holds: Holds, names: ReadonlyMap<number, string>): Html {
  const { format, language } = call
  const words = queueWords(language)
  return html`<section class="box"><header><h2>${words.holds}</h2><p>${words.holdsText}</p></header>
    <div class="scroll" tabindex="0" role="region" aria-label="${words.holds}"><table><thead><tr><th>${words.account}</th><th>${words.state}</th><th>
    ${words.rule}</th><th class="wide-only">${words.figures}</th><th class="n wide-only">${words.sinceHead}</th></tr></thead><tbody>${holds.map(
      (hold) =>
        html`<tr><td><a class="go" href="${operatorPath(`accounts/${hold.accountId}`)}">${foreign(names.get(hold.accountId) ?? String(hold.accountId))}
        </a><small>${words.account} ${hold.accountId}</small></td><td>${levelMark(call, hold.level)}</td><td>${ruleText(call, hold)}</td>
        <td class="wide-only dim">${figuresText(call, hold)}</td><td class="n wide-only faint">${format.ago(hold.since)}</td></tr>`,
    )}</tbody></table></div></section>`
}
