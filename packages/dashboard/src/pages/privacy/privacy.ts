import { type ForgetRequest, parseAddress } from '@postrider/core'
import { type Html, html, inputField, textField } from '@postrider/ui'
import { type Answer, file, page, redirect } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { type AccountCall, field } from '../../frame/call.ts'
import { proved } from '../../frame/forms/proof.ts'
import { offsetOf, pager } from '../../frame/pager.ts'
import { byApi, pageHead, problemNote } from '../../frame/parts.ts'
import { account, type DashboardRoute } from '../../frame/routes.ts'
import { personFile } from './person-file.ts'
import { privacyWords } from './privacy-words.ts'

export const PRIVACY: readonly DashboardRoute[] = [
  account('GET', '/privacy', 'privacy', (call) => privacyPage(call)),
  account('POST', '/privacy/erase', 'privacy', checkedErasure),
  account('POST', '/privacy/export', 'privacy', exportPerson),
]

const PAGE = 50

/** Erasure and export of what is stored about recipients, and the requests for it. */
async function privacyPage(call: AccountCall, problem?: string): Promise<Answer> {
  const { account: own, core, language, path, query } = call
  const words = privacyWords(language)
  const offset = offsetOf(query, PAGE)
  const { requests, total } = await core.privacy.requests(own.id, { limit: PAGE, offset })
  return page({
    title: words.title,
    status: problem === undefined ? 200 : 400,
    live: 'clock',
    body: html`${pageHead(words.title, words.lead)}${problemNote(call, problem)}
<div class="cols even"><section class="box w7"><header><h2>${words.erase}</h2></header>${eraseForm(call)}</section>
<section class="box w5"><header><h2>${words.export}</h2></header><form class="pad stack s" method="post" action="${path('privacy/export')}">
${inputField({ name: 'email', label: words.address, type: 'email', hint: words.exportHint, required: true, maxlength: 320 })}
<div class="row"><button class="btn" type="submit">${words.export}</button></div></form></section></div>
<section class="box"><header><h2>${words.requests}</h2></header>${
      total === 0
        ? html`<div class="void"><p>${words.none}</p></div>`
        : html`${table(call, requests)}${pager(call, { at: 'privacy', offset, limit: PAGE, total })}`
    }</section>
${byApi(call, { method: 'GET', path: '/v2/gdpr/forget' }, { method: 'POST', path: '/v2/gdpr/export', body: { email: 'x@harbor.example' } })}`,
  })
}

function eraseForm({ form, language, path }: AccountCall): Html {
  const words = privacyWords(language)
  const addresses = { name: 'emails', label: words.addresses, value: field(form, 'emails'), hint: words.addressesHint }
  return html`<form class="pad stack s" method="post" action="${path('privacy/erase')}">${textField({ ...addresses, required: true, rows: 4 })}
<p class="hint">${words.eraseText}</p><div class="row"><button class="btn bad" type="submit">${words.erase}</button></div></form>`
}

function table(call: AccountCall, requests: readonly ForgetRequest[]): Html {
  const { format, icon, language } = call
  const words = privacyWords(language)
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.requests}"><table><thead><tr><th>${words.requested}</th><th>${words.state}</th>
    <th class="n">${words.count}</th><th class="wide-only">${words.changed}</th><th class="wide-only">${words.request}</th></tr></thead><tbody>${requests.map(
      ({ id, state, emails, requestedAt, waiting, receipt }) =>
        html`<tr><td class="faint">${format.time(requestedAt)}</td><td><span class="state ${state === 'done' ? 'good' : 'wait'}">${
          state === 'done' ? icon('check', 'good') : icon('clock', 'wait')
        }<span>${words.states[state]}</span></span>${waiting > 0 && html`<small>${words.waiting(format.number(waiting))}</small>`}</td>
        <td class="n">${format.number(emails)}</td><td class="wide-only dim">${words.receipt(
          format.number(receipt.deliveries + receipt.cancelled),
          format.number(receipt.bodies),
        )}</td><td class="wide-only mono faint any">${id}</td></tr>`,
    )}</tbody></table></div>`
}

/** An erasure cannot be undone, so the visitor proves who they are; not for addresses that core refuses anyway. */
async function checkedErasure(call: AccountCall): Promise<Answer> {
  const addresses = addressesOf(call)
  const isValid = addresses.length > 0 && addresses.every((address) => parseAddress(address) !== undefined)
  return isValid ? proved(call, erase) : erase(call)
}

function addressesOf({ form }: AccountCall): string[] {
  return field(form, 'emails')
    .split(/[\s,;]+/, 2000)
    .filter((address) => address !== '')
}

async function erase(call: AccountCall): Promise<Answer> {
  const { account: own, by, core, path } = call
  const asked = await attempt(() => core.privacy.forget(own.id, addressesOf(call), by))
  return asked.ok ? redirect(path('privacy'), 'saved') : privacyPage(call, asked.problem)
}

async function exportPerson(call: AccountCall): Promise<Answer> {
  const { account: own, by, core, form } = call
  const email = field(form, 'email')
  const question = { email, limit: 100 }
  const first = await attempt(() => core.privacy.export(own.id, question, by))
  if (!first.ok) return privacyPage(call, first.problem)
  const rest = (next: string) => core.privacy.export(own.id, { ...question, next }, by)
  return file({
    type: 'application/json; charset=utf-8',
    body: personFile(first.value, rest),
    headers: { 'content-disposition': 'attachment; filename="recipient.json"' },
  })
}
