import { partsOfPlace, type QueueGroup, type QueueGrouping, type RefusedAt } from '@postrider/core'
import { foreign, type Html, html, type Value } from '@postrider/ui'
import type { UserCall } from '../../frame/call.ts'
import { operatorPath } from '../../frame/operator.ts'
import {
  bounded,
  destinationName,
  generalOverrides,
  isPausable,
  limitText,
  stateMark,
  stateOf,
  waitingKinds,
  whyText,
} from './destination-state.ts'
import { queueWords } from './queue-words.ts'

/** Providers and sites: how much waits there, how fast it is tried, and why it waits. */
export function destinationTable(call: UserCall, groups: readonly QueueGroup[], refused: readonly RefusedAt[]): Html {
  const words = queueWords(call.language)
  const byPlace = new Map(refused.map((one) => [one.place, one]))
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.groups.provider}"><table><thead><tr><th>${words.groupings.provider}
    </th><th class="wide-only">${words.state}</th><th class="n">${words.waiting}</th><th class="n wide-only">${words.oldest}</th><th class="wide-only">
    ${words.tried}</th><th class="n wide-only">${words.connections}</th><th class="wide-only">${words.why}</th><th><span class="sr">${words.actions}
    </span></th></tr></thead><tbody>${groups.map((group) => destinationRow(call, group, byPlace.get(group.name ?? '')))}</tbody></table></div>`
}

function destinationRow(call: UserCall, group: QueueGroup, refused: RefusedAt | undefined): Html {
  const { format } = call
  const why = whyText(call, group, refused)
  const mark = stateMark(call, stateOf(group))
  return html`<tr><td>${nameCell(call, group.name)}<div class="narrow">${mark}<div>${why}</div></div></td><td class="wide-only">${mark}</td>
    <td class="n">${bounded(call, waitingOf(group))}</td><td class="n wide-only">${ageText(call, group)}</td><td class="rate wide-only">
    ${rateCell(call, group)}</td><td class="n wide-only">${
      group.limits
        ? `${format.number(group.limits.connections.used)} / ${format.number(group.limits.connections.limit)}`
        : '–'
    }</td><td class="whyc wide-only">${why}</td><td class="n">${actions(call, group)}</td></tr>`
}

function nameCell(call: UserCall, name: string | null): Html {
  const shown = destinationName(call, name)
  if (!isPausable(name)) return html`<b>${shown}</b>`
  const { source } = partsOfPlace(name)
  const path = operatorPath('queue/place', { name })
  return html`<a class="go any" href="${path}">${foreign(shown)}</a>${source !== undefined && html`<small>${queueWords(call.language).from(source)}</small>`}`
}

/** The count of what waits, without what is being sent. */
export function waitingOf({ total, inFlight }: QueueGroup): QueueGroup['total'] {
  return { count: Math.max(0, total.count - inFlight), more: total.more }
}

export function ageText({ format, now }: UserCall, { oldest }: Pick<QueueGroup, 'oldest'>): string {
  return oldest === null ? '–' : format.duration(Math.max(0, now.getTime() - oldest.getTime()))
}

/** Deliveries tried per minute lately; null if none was. */
export function perMinute({ rate }: Pick<QueueGroup, 'rate'>): number | null {
  return rate === null ? null : Math.round((60 * rate.tried) / Math.max(rate.seconds, 1))
}

/** The rate and its limit, with a meter. */
function rateCell({ format, language }: UserCall, group: QueueGroup): Html {
  const rate = perMinute(group) ?? 0
  const limit = group.limits?.rate && Math.round((60 * group.limits.rate.messages) / group.limits.rate.seconds)
  if (!limit) return html`<span>${rate === 0 ? '–' : format.number(rate)}</span>`
  const filled = Math.min(100, Math.round((100 * rate) / limit))
  const colour = generalOverrides(group).length > 0 ? 'f3' : 'f1'
  return html`<div class="row tight"><span>${format.number(rate)}</span><span class="faint push">${queueWords(language).of(format.number(limit))}
    </span></div><svg class="meter thin" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    <rect class="fline" width="100" height="8"/><rect class="${colour}" width="${filled}" height="8"/></svg>`
}

function actions({ icon, language }: UserCall, group: QueueGroup): Value {
  const { name } = group
  if (!isPausable(name)) return null
  const words = queueWords(language)
  if (stateOf(group) !== 'paused') {
    return html`<a class="btn plain icon s" href="${operatorPath('queue/place', { name })}#pause" aria-label="${words.pauseOf(name)}">${icon('pause')}</a>`
  }
  const { base } = partsOfPlace(name)
  return html`<form method="post" action="${operatorPath('queue/resume')}"><input type="hidden" name="place" value="${base}">
    <button class="btn plain icon s" type="submit" aria-label="${words.resumeOf(name)}">${icon('play')}</button></form>`
}

/** Accounts, classes, domains or sources: how much waits, and for what. */
export function groupTable(
  call: UserCall,
  by: Exclude<QueueGrouping, 'provider'>,
  { groups, names }: { readonly groups: readonly QueueGroup[]; readonly names: ReadonlyMap<number, string> },
): Html {
  const { format, language } = call
  const words = queueWords(language)
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.groups[by]}"><table><thead><tr><th>${words.groupings[by]}</th>
    <th class="n">${words.waiting}</th><th class="n wide-only">${words.oldest}</th><th class="n wide-only">${words.tried}</th><th class="wide-only">
    ${words.why}</th></tr></thead><tbody>${groups.map((group) => {
      const rate = perMinute(group)
      const why = groupWhy(call, group)
      return html`<tr><td>${groupName(call, by, group, names)}<div class="narrow">${why}</div></td><td class="n">${bounded(call, waitingOf(group))}
        </td><td class="n wide-only">${ageText(call, group)}</td><td class="n wide-only">${rate === null ? '–' : format.number(rate)}</td>
        <td class="whyc wide-only">${why}</td></tr>`
    })}</tbody></table></div>`
}

function groupName(
  { language }: UserCall,
  by: QueueGrouping,
  { name }: QueueGroup,
  names: ReadonlyMap<number, string>,
): Html {
  const words = queueWords(language)
  if (name === null) return html`<b>${by === 'source' ? words.noSource : words.noDestination}</b>`
  if (by !== 'account') return html`<b class="any">${foreign(name)}</b>`
  const known = names.get(Number(name))
  return html`<a class="go" href="${operatorPath(`accounts/${name}`)}">${known === undefined ? name : foreign(known)}</a>
    ${known !== undefined && html`<small>${words.account} ${name}</small>`}`
}

function groupWhy(call: UserCall, group: QueueGroup): Html {
  const { format, language, now } = call
  const words = queueWords(language)
  const next = group.doneAt && words.emptyIn(format.duration(group.doneAt.getTime() - now.getTime()))
  const limits = group.overrides.map((one) => `${destinationName(call, one.place)}: ${limitText(call, one)}`)
  return html`<span>${waitingKinds(call, group)}</span><small>${[next, ...limits].filter((text) => text !== null).join('; ')}</small>`
}
