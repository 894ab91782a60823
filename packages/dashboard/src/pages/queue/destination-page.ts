import { type LimitInEffect, OPERATOR_RULE, type PlaceDetails, partsOfPlace, readDuration } from '@postrider/core'
import { checkField, foreign, type Html, html, inputField, selectField, type Value } from '@postrider/ui'
import { type Answer, page, redirect } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { field, type UserCall } from '../../frame/call.ts'
import { idIn, operatorOf, operatorPath } from '../../frame/operator.ts'
import { actButton, byApi, emptyBox, pageHead, problemNote } from '../../frame/parts.ts'
import { type DashboardRoute, operators } from '../../frame/routes.ts'
import { jobsWords } from '../jobs/jobs-words.ts'
import { bounded, destinationName, limitText, overrideTimes, rateText } from './destination-state.ts'
import { destinationWords } from './destination-words.ts'
import { queueWords } from './queue-words.ts'
import { refusedHere } from './refused.ts'

/** One provider or site, with its pause. Names are in the query: they may have any sign. */
export const PLACE: readonly DashboardRoute[] = [
  operators('GET', '/operator/queue/place', (call) => destinationPage(call, field(call.query, 'name'))),
  operators('POST', '/operator/queue/pause', pauseDestination),
  operators('POST', '/operator/queue/resume', resumeDestination),
]

const MAX_NAME = 300
const MAX_ROWS = 20
const DURATIONS = ['1h', '6h', '24h', '3d', '7d', '30d'] as const

const pathOf = (name: string): string => operatorPath('queue/place', { name })

async function destinationPage(call: UserCall, name: string, problem?: string): Promise<Answer> {
  const { core, language } = call
  const queue = queueWords(language)
  const words = destinationWords(language)
  const crumbs = [[queue.title, operatorPath('queue')]] as const
  const found = name === '' || name.length > MAX_NAME ? undefined : await core.queue.destination(name)
  if (!found) {
    const body = emptyBox(call, 'queue', words.unknown, words.unknownText)
    return page({ title: words.unknown, status: 404, crumbs, body })
  }
  const accounts = [...found.parked.slice(0, MAX_ROWS), ...found.overrides].flatMap(({ accountId }) => accountId ?? [])
  const names = await core.accounts.names(accounts)
  const { source } = partsOfPlace(name)
  const title = `${destinationName(call, name)}${source === undefined ? '' : ` ${queue.from(source)}`}`
  return page({
    title,
    crumbs,
    status: problem === undefined ? 200 : 400,
    body: html`${pageHead(
      foreign(title),
      found.isProvider ? words.provider : words.site,
      html`<a class="btn" href="${operatorPath('queue/jobs/new', { place: name })}">${jobsWords(language).plan}</a>`,
    )}${problemNote(call, problem)}
${found.ofSources.length > 0 && html`<p class="hint">${words.alsoOf} ${found.ofSources.map((one) => html`<a href="${pathOf(one)}">${one}</a> `)}</p>`}
<div class="cols"><div class="stack w7"><section class="box">${overridesPart(call, found, names)}</section><section class="box">
  ${limitsPart(call, found)}</section><section class="box">${connectionsPart(call, found)}</section></div><section class="box w5" id="pause">
  ${pausePart(call, found)}</section></div>
${refusedHere(call, found.refused)}
${parkedPart(call, found, names)}
${byApi(
  call,
  { method: 'GET', path: `/operator/v1/queues/${encodeURIComponent(name)}` },
  {
    method: 'POST',
    path: `/operator/v1/queues/${encodeURIComponent(name)}/pause`,
    body: { reason: words.reasonExample, for: '6h' },
  },
)}`,
  })
}

type Names = ReadonlyMap<number, string>

function overridesPart(call: UserCall, { overrides, place }: PlaceDetails, names: Names): Html {
  const { icon, language } = call
  const words = destinationWords(language)
  const head = html`<header><h2>${words.overrides}</h2></header>`
  if (overrides.length === 0) return html`${head}<div class="void"><p>${words.noneSet}</p></div>`
  const queue = queueWords(language)
  return html`${head}<ul class="list">${overrides.slice(0, MAX_ROWS).map((one) => {
    const sign = one.setting === 'pause' ? icon('pause', 'idle') : icon('s-deferred', 'wait')
    const whose =
      one.accountId === null ? '' : `, ${queue.ofAccount(names.get(one.accountId) ?? String(one.accountId))}`
    // The form next to this list ends those for all mail.
    const end =
      one.accountId !== null &&
      one.rule === OPERATOR_RULE &&
      actButton(
        queue.resume,
        operatorPath('queue/resume'),
        html`<input type="hidden" name="place" value="${place}"><input type="hidden" name="account" value="${one.accountId}">`,
      )
    return html`<li>${sign}<div><b>${limitText(call, one)}${whose}</b><p class="any">“${foreign(one.reason)}”</p><small class="faint">
      ${overrideTimes(call, one)}</small></div>${end}</li>`
  })}</ul>`
}

function pausePart(call: UserCall, { place, overrides }: PlaceDetails): Html {
  const { form, language } = call
  const words = destinationWords(language)
  const queue = queueWords(language)
  const ofOperator = overrides.some(({ accountId, rule }) => accountId === null && rule === OPERATOR_RULE)
  const ofRules = overrides.some(({ accountId, rule }) => accountId === null && rule !== OPERATOR_RULE)
  const hidden = html`<input type="hidden" name="place" value="${place}">`
  const resume = (text: string, button: string, fields: Value) =>
    html`<form class="pad stack s ruled" method="post" action="${operatorPath('queue/resume')}">${hidden}<p>${text}</p>${fields}<div class="row">
      <button class="btn" type="submit">${button}</button></div></form>`
  return html`<header><h2>${words.pauseTitle}</h2></header>${
    ofOperator
      ? resume(words.resumeText, queue.resume, ofRules && checkField({ name: 'rules', label: words.resumeRules }))
      : ofRules && resume(words.endRulesText, words.endRules, html`<input type="hidden" name="rules" value="on">`)
  }<form class="pad stack s" method="post" action="${operatorPath('queue/pause')}">${hidden}<p class="hint">${words.pauseText}</p>
${inputField({ name: 'reason', label: words.reason, value: field(form, 'reason'), hint: words.reasonHint, placeholder: words.reasonExample, required: true })}
${selectField({ name: 'for', label: words.lasts, value: field(form, 'for') || '24h', choices: DURATIONS.map((one) => [one, words.durations[one]] as const) })}
${inputField({ name: 'account', label: words.onlyAccount, value: field(form, 'account'), hint: words.onlyAccountHint, maxlength: 10 })}
<div class="row"><button class="btn main" type="submit">${queue.pause}</button></div></form>`
}

function limitsPart(call: UserCall, { limits }: PlaceDetails): Html {
  const { format, language } = call
  const words = destinationWords(language)
  const value = ({ value }: LimitInEffect) =>
    value === null ? '–' : typeof value === 'number' ? format.number(value) : rateText(call, value)
  const from = (text: string) => (text === 'file' || text === 'default' ? words.sources[text] : text)
  return html`<header><h2>${words.limits}</h2></header><div class="scroll" tabindex="0" role="region" aria-label="${words.limits}"><table><thead><tr>
    <th>${words.limit}</th><th class="n"><span class="sr">${words.limits}</span></th><th>${words.from}</th><th class="n wide-only">${words.until}</th>
    </tr></thead><tbody>${limits.slice(0, MAX_ROWS).map(
      (one) =>
        html`<tr><td>${words.names[one.setting]}${one.accountId !== null && html`<small>${words.forAccount} ${one.accountId}</small>`}</td>
          <td class="n">${value(one)}</td><td>${from(one.from)}</td><td class="n wide-only faint">${one.until ? format.time(one.until) : '–'}</td></tr>`,
    )}</tbody></table></div>`
}

function connectionsPart(call: UserCall, { slots, ruleHits }: PlaceDetails): Html {
  const { format, language } = call
  const words = destinationWords(language)
  const rows = (label: string, head: readonly [string, string], cells: readonly (readonly [Value, number])[]) =>
    html`<header><h2>${label}</h2></header><div class="scroll" tabindex="0" role="region" aria-label="${label}"><table><thead><tr><th>${head[0]}</th>
      <th class="n">${head[1]}</th></tr></thead><tbody>${cells.map(
        ([name, count]) => html`<tr><td class="any">${name}</td><td class="n">${format.number(count)}</td></tr>`,
      )}</tbody></table></div>`
  const queue = queueWords(language)
  return html`${
    slots.length === 0
      ? html`<header><h2>${words.workers}</h2></header><div class="void"><p>${words.noWorkers}</p></div>`
      : rows(
          words.workers,
          [words.worker, queue.connections],
          slots.map(({ workerId, host, pid, used }) => [
            html`${workerId}<small>${host ?? ''}${pid !== null && ` · ${pid}`}</small>`,
            used,
          ]),
        )
  }${
    ruleHits.length > 0 &&
    rows(
      words.hits,
      [queue.rule, words.hitCount],
      ruleHits
        .slice(0, MAX_ROWS)
        .map(({ rule, accountId, hits }) => [
          accountId === null ? rule : `${rule}, ${queue.ofAccount(String(accountId))}`,
          hits,
        ]),
    )
  }`
}

function parkedPart(call: UserCall, { due, later, parked, sample }: PlaceDetails, names: Names): Html {
  const { format, language } = call
  const words = destinationWords(language)
  const queue = queueWords(language)
  const tried = words.triedHere(bounded(call, due), bounded(call, later))
  const head = html`<header><h2>${words.parked}</h2>${due.count + later.count > 0 && html`<p>${tried}</p>`}</header>`
  if (parked.length === 0)
    return html`<section class="box">${head}<div class="void"><p>${words.noneParked}</p></div></section>`
  return html`<section class="box">${head}
    <div class="scroll" tabindex="0" role="region" aria-label="${words.parked}"><table><thead><tr><th>${queue.account}</th><th class="n">
    ${queue.waiting}</th></tr></thead><tbody>${parked.slice(0, MAX_ROWS).map(
      (one) =>
        html`<tr><td>${foreign(names.get(one.accountId) ?? '')}<small>${queue.account} ${one.accountId}</small></td><td class="n">
          ${bounded(call, one)}</td></tr>`,
    )}</tbody></table></div></section>
<section class="box"><header><h2>${words.sample}</h2></header><div class="scroll" tabindex="0" role="region" aria-label="${words.sample}"><table>
  <thead><tr><th>${words.recipient}</th><th class="wide-only">${words.message}</th><th class="n">${words.attempts}</th><th class="n">${words.expires}
  </th></tr></thead><tbody>${sample.map(
    (one) =>
      html`<tr><td class="any">${foreign(one.recipient)}<small>${queue.account} ${one.accountId}</small></td><td class="wide-only mono">
        ${one.messageId}</td><td class="n">${format.number(one.attempts)}</td><td class="n faint">${format.time(one.expiresAt)}</td></tr>`,
  )}</tbody></table></div></section>`
}

/** The account of the form; undefined if the text is not an account's number. */
function accountIn({ form }: UserCall): number | null | undefined {
  const text = field(form, 'account')
  if (text === '') return null
  return idIn(text)
}

async function pauseDestination(call: UserCall): Promise<Answer> {
  const { core, form } = call
  const destination = field(form, 'place')
  const accountId = accountIn(call)
  const paused = await attempt(() =>
    core.queue.pause(
      {
        place: destination,
        // No account has this number, and core says so.
        accountId: accountId === undefined ? 0 : accountId,
        seconds: readDuration('for', field(form, 'for')),
        reason: field(form, 'reason'),
      },
      operatorOf(call),
    ),
  )
  return paused.ok ? redirect(pathOf(destination), 'paused') : destinationPage(call, destination, paused.problem)
}

async function resumeDestination(call: UserCall): Promise<Answer> {
  const { core, form } = call
  const destination = field(form, 'place')
  const rules = field(form, 'rules') === 'on'
  const accountId = accountIn(call)
  await core.queue.resume(
    { place: destination, accountId: accountId === undefined ? 0 : accountId },
    { rules, by: operatorOf(call) },
  )
  return redirect(operatorPath('queue'), 'resumed')
}
