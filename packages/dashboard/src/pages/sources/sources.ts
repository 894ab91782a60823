import {
  capOf,
  type Egress,
  loadProviders,
  OTHER_PROVIDERS,
  type Override,
  type Provider,
  partsOfPlace,
  type Source,
  type SourceStatus,
} from '@postrider/core'
import { foreign, type Html, html, type Value } from '@postrider/ui'
import { type Answer, page, redirect } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { field, type UserCall } from '../../frame/call.ts'
import { operatorOf, operatorPath } from '../../frame/operator.ts'
import { actButton, ask, byApi, emptyBox, pageHead, problemNote } from '../../frame/parts.ts'
import { type DashboardRoute, operators } from '../../frame/routes.ts'
import { limitText, rateText } from '../queue/destination-state.ts'
import { sourcesWords } from './sources-words.ts'

export const SOURCES: readonly DashboardRoute[] = [
  operators('GET', '/operator/sources', (call) => sourcesPage(call)),
  operators('POST', '/operator/sources/check', (call) =>
    change(call, 'checked', (name) => call.core.sourceChecks.check(name)),
  ),
  operators('POST', '/operator/sources/pause', (call) =>
    change(call, 'paused', (name) =>
      call.core.sources.change(name, { pause: field(call.form, 'reason') }, operatorOf(call)),
    ),
  ),
  operators('POST', '/operator/sources/resume', (call) =>
    change(call, 'resumed', (name) => call.core.sources.change(name, { pause: null }, operatorOf(call))),
  ),
]

const MAX_SOURCES = 200
const MAX_WARM_UPS = 4

async function change(call: UserCall, said: string, act: (name: string) => Promise<unknown>): Promise<Answer> {
  const done = await attempt(() => act(field(call.form, 'name')))
  return done.ok ? redirect(operatorPath('sources'), said) : sourcesPage(call, done.problem)
}

async function sourcesPage(call: UserCall, problem?: string): Promise<Answer> {
  const { config, core, language } = call
  const words = sourcesWords(language)
  const [egress, statuses, overrides] = await Promise.all([
    core.sources.read(),
    core.sourceChecks.read(),
    core.deliveries.limits.overrides(),
  ])
  const { all } = loadProviders(config.providersFile)
  return page({
    title: words.title,
    status: problem === undefined ? 200 : 400,
    body: html`${pageHead(words.title, words.lead)}${problemNote(call, problem)}
${egress.sources.length === 0 ? emptyBox(call, 'server', words.none, words.noneText) : sourceBox(call, egress, statuses)}
${providerBox(call, all, overrides)}
${byApi(call, { method: 'GET', path: '/operator/v1/providers' }, { method: 'GET', path: '/operator/v1/overrides' })}`,
  })
}

function sourceBox(call: UserCall, { pools, sources }: Egress, statuses: ReadonlyMap<number, SourceStatus>): Html {
  const { format, language } = call
  const words = sourcesWords(language)
  return html`<section class="box"><header><h2>${words.sources}</h2></header>
    <div class="scroll" tabindex="0" role="region" aria-label="${words.sources}"><table><thead><tr><th>${words.source}</th><th>${words.state}</th>
    <th class="wide-only">${words.pool}</th><th class="wide-only">${words.warmUp}</th><th class="wide-only">${words.records}</th><th class="wide-only">
    ${words.lists}</th><th><span class="sr">${words.actions}</span></th></tr></thead><tbody>${sources
      .slice(0, MAX_SOURCES)
      .map((source) => {
        const status = statuses.get(source.id)
        const pool = pools.find(({ id }) => id === source.poolId)?.name ?? ''
        const addresses = [source.address, source.address6].filter((one) => one !== null).join(', ')
        return html`<tr><td class="any"><b>${source.name}</b><small>${addresses}; ${source.helo}</small></td><td>${stateCell(call, source)}</td>
        <td class="wide-only">${pool}<small>${words.weight} ${format.number(source.weight)}</small></td><td class="wide-only">
        ${warmUpCell(call, source)}</td><td class="wide-only">${recordsCell(call, status)}</td><td class="wide-only">${listsCell(call, status)}</td>
        <td class="n">${actions(call, source)}</td></tr>`
      })}</tbody></table></div></section>`
}

function stateCell({ format, icon, language }: UserCall, { isPaused, reason, workers }: Source): Html {
  const words = sourcesWords(language)
  if (isPaused)
    return html`<span class="state idle">${icon('pause', 'idle')}<span>${words.paused}</span></span><small class="any">“${foreign(reason ?? '')}”</small>`
  if (workers === 0) return html`<span class="state wait">${icon('warn', 'wait')}<span>${words.noWorker}</span></span>`
  return html`<span class="state good">${icon('check', 'good')}<span>${words.active}</span></span><small>${words.workers(format.number(workers))}</small>`
}

function warmUpCell({ format, language }: UserCall, { warmUpPlan, warmUps }: Source): Html {
  const words = sourcesWords(language)
  if (warmUpPlan === null) return html`<span class="faint">${words.noWarmUp}</span>`
  const open = warmUps.filter(({ day }) => capOf(warmUpPlan, day) !== undefined)
  return html`${words.plans[warmUpPlan]}${open.slice(0, MAX_WARM_UPS).map(({ provider, day, isSpent }) => {
    const cap = format.number(capOf(warmUpPlan, day) ?? 0)
    const name = provider === OTHER_PROVIDERS ? words.others : provider
    return html`<small>${words.days(name, format.number(day + 1), cap)}${isSpent && `, ${words.spent}`}</small>`
  })}`
}

function recordsCell({ format, language }: UserCall, status: SourceStatus | undefined): Value {
  const words = sourcesWords(language)
  const records = status?.records ?? []
  const wrong = records.filter(({ state }) => state === 'wrong' || state === 'missing')
  const at = status?.checkedAt ? html`<small>${words.checkedAt} ${format.ago(status.checkedAt)}</small>` : null
  if (wrong.length > 0) {
    const names = [...new Set(wrong.map(({ type }) => type))].join(', ')
    return html`<span class="bad">${words.wrong(names)}</span>${wrong.slice(0, 2).map(
      ({ host, problem }) => html`<small class="any">
      ${host}: ${foreign(problem ?? '')}</small>`,
    )}${at}`
  }
  if (records.length === 0 || records.every(({ state }) => state === 'skipped'))
    return html`<span class="faint">${words.notChecked}</span>${at}`
  return html`${records.some(({ state }) => state === 'unknown') ? words.unknown : words.right}${at}`
}

function listsCell({ language }: UserCall, status: SourceStatus | undefined): Html {
  const words = sourcesWords(language)
  const listings = status?.listings ?? []
  const listed = listings.filter(({ state }) => state === 'listed')
  if (listed.length > 0)
    return html`<span class="bad">${words.listed([...new Set(listed.map(({ list }) => list))].join(', '))}</span>`
  if (listings.length === 0) return html`<span class="faint">${words.notChecked}</span>`
  return html`${listings.some(({ state }) => state === 'unknown') ? words.unknown : words.clean}`
}

function actions({ language }: UserCall, { id, isPaused, name }: Source): Html {
  const words = sourcesWords(language)
  const hidden = html`<input type="hidden" name="name" value="${name}">`
  const pause = ask({
    language,
    id: `pause-${id}`,
    button: words.pause,
    title: words.pauseTitle(name),
    text: words.pauseText,
    action: operatorPath('sources/pause'),
    fields: html`${hidden}<div class="fld"><label for="reason-${id}">${words.reason}</label>
      <input class="in" id="reason-${id}" name="reason" required maxlength="1000" autocomplete="off"></div>`,
  })
  return html`<span class="acts">${actButton(words.check, operatorPath('sources/check'), hidden)}
    ${isPaused ? actButton(words.resume, operatorPath('sources/resume'), hidden) : pause}</span>`
}

function providerBox(call: UserCall, providers: readonly Provider[], overrides: readonly Override[]): Html {
  const { format, language } = call
  const words = sourcesWords(language)
  const ofProvider = Map.groupBy(
    overrides.filter(({ accountId }) => accountId === null),
    ({ place }) => partsOfPlace(place).base,
  )
  return html`<section class="box"><header><h2>${words.providers}</h2><p>${words.providersText}</p></header>
    <div class="scroll" tabindex="0" role="region" aria-label="${words.providers}"><table class="hov"><thead><tr><th>${words.provider}</th>
    <th class="n">${words.connections}</th><th class="n wide-only">${words.perConnection}</th><th class="n wide-only">${words.rate}</th>
    <th class="n wide-only">${words.rules}</th><th>${words.now}</th></tr></thead><tbody>${providers.map((one) => {
      const set = ofProvider.get(one.name) ?? []
      const now =
        set.length === 0
          ? html`<span class="faint">${words.usual}</span>`
          : set
              .slice(0, 3)
              .map(
                (override) =>
                  html`<span class="wait">${limitText(call, override)}</span><small>${override.rule}</small>`,
              )
      return html`<tr><td><a class="go" href="${operatorPath('queue/place', { name: one.name })}">${one.name}</a><small class="any">
        ${one.mx.slice(0, 2).join(', ')}${one.mx.length > 2 && ' …'}${one.tlsRequired && `; ${words.tlsRequired}`}</small></td><td class="n">
        ${one.connections === undefined ? words.asSite : format.number(one.connections)}</td><td class="n wide-only">
        ${one.messagesPerConnection === undefined ? words.asSite : format.number(one.messagesPerConnection)}</td><td class="n wide-only">
        ${one.rate ? rateText(call, one.rate) : words.noRate}</td><td class="n wide-only">${format.number(one.rules.length)}</td><td>${now}</td></tr>`
    })}</tbody></table></div></section>`
}
