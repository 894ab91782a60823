import type { CreditType, SubaccountFigures } from '@postrider/core'
import { foreign, type Html, html, inputField, selectField } from '@postrider/ui'
import { type Answer, page } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { type AccountCall, field, passwordField } from '../../frame/call.ts'
import { proved } from '../../frame/forms/proof.ts'
import { offsetOf, pager } from '../../frame/pager.ts'
import { byApi, emptyBox, pageHead, problemNote } from '../../frame/parts.ts'
import { account, type DashboardRoute } from '../../frame/routes.ts'
import { frameWords } from '../../frame/words/frame-words.ts'
import { forecastText } from '../credits/credit-parts.ts'
import { SUBACCOUNT } from './subaccount-page.ts'
import { subaccountState } from './subaccount-state.ts'
import { subaccountsWords } from './subaccounts-words.ts'

export const SUBACCOUNTS: readonly DashboardRoute[] = [
  account('GET', '/subaccounts', 'subaccounts', (call) => subaccountList(call)),
  account('GET', '/subaccounts/new', 'subaccounts', async (call) => subaccountForm(call)),
  // It gets a key with the rights of the visitor.
  account('POST', '/subaccounts', 'subaccounts', (call) => proved(call, createSubaccount)),
  ...SUBACCOUNT,
]

const PAGE = 50
const CREDIT_TYPES: readonly CreditType[] = ['unlimited', 'one_time_credit']

/** The first key of a subaccount that was created just now, and is on this page only. */
interface Made {
  readonly username: string
  readonly secret: string
}

async function subaccountList(call: AccountCall, made?: Made): Promise<Answer> {
  const { core, account: own, icon, language, path, query, visitor } = call
  const words = subaccountsWords(language)
  const search = field(query, 'q').slice(0, 64)
  const offset = offsetOf(query, PAGE)
  const wanted = { limit: PAGE, offset, username: search === '' ? undefined : search }
  const [{ subaccounts, total }, principal] = await Promise.all([
    core.subaccounts.figures(own.id, wanted),
    core.people.principal(visitor, own.id),
  ])
  const isNested = principal?.account.parentId != null
  const add = !isNested && html`<a class="btn main" href="${path('subaccounts/new')}">${icon('plus')}${words.make}</a>`
  const empty = isNested
    ? emptyBox(call, 'users', words.nested, words.nestedText)
    : search === ''
      ? emptyBox(call, 'users', words.none, words.noneText, add)
      : emptyBox(call, 'search', words.nothing, words.nothingText)
  return page({
    title: words.title,
    body: html`${pageHead(words.title, words.lead, made || (total === 0 && search === '') ? null : add)}${made && madeNote(call, made)}
${(total > 0 || search !== '') && searchForm(call, search)}
${
  subaccounts.length === 0
    ? empty
    : html`<section class="box">${table(call, subaccounts)}
  ${pager(call, { at: 'subaccounts', offset, limit: PAGE, total, query: search === '' ? {} : { q: search } })}</section>`
}
${byApi(
  call,
  { method: 'GET', path: '/v2/subaccounts/getSubAccounts' },
  {
    method: 'POST',
    path: '/v2/subaccounts/createSubaccount',
    body: { username: 'dock2', email: 'd2@ship.example', setpassword: '0' },
  },
)}`,
  })
}

function madeNote({ icon, language, path }: AccountCall, { username, secret }: Made): Html {
  const words = subaccountsWords(language)
  return html`<section class="note good">${icon('check', 'good')}<div class="stack s"><b>${words.made(username)}</b>
<div class="secret"><code id="secret">${secret}</code><button class="btn main" type="button" data-copy-from="secret">${icon('copy')}${words.copy}</button></div>
<div class="row"><a href="${path(`subaccounts/${username}`)}">${words.stored}</a></div></div></section>`
}

function searchForm({ icon, language, path }: AccountCall, search: string): Html {
  const words = subaccountsWords(language)
  return html`<form class="row" role="search" action="${path('subaccounts')}"><div class="find">${icon('search')}<label class="sr" for="q">
    ${words.search}</label>
    <input class="in" id="q" name="q" type="search" value="${search}" placeholder="${words.search}" autocomplete="off" spellcheck="false" maxlength="64">
    <kbd class="wide-only">/</kbd></div><button class="btn" type="submit">${words.find}</button></form>`
}

function table(call: AccountCall, subaccounts: readonly SubaccountFigures[]): Html {
  const { format, language, path } = call
  const words = subaccountsWords(language)
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.title}"><table class="hov"><thead><tr><th>${words.name}</th><th>
    ${words.state}</th><th class="n wide-only">${words.used}</th><th class="n">${words.left}</th><th class="wide-only">${words.forecast}</th>
    <th class="n wide-only">${words.since}</th></tr></thead><tbody>${subaccounts.map(
      (one) =>
        html`<tr><td class="any"><a class="go" href="${path(`subaccounts/${one.username}`)}">${foreign(one.username)}</a><small>${foreign(one.email)}
        </small></td><td>${subaccountState(call, one)}</td><td class="n wide-only">${format.number(one.used)}</td><td class="n">
        ${one.credit.available === null ? html`<span class="faint">${words.shared}</span>` : format.number(one.credit.available)}</td>
        <td class="wide-only dim">${one.used > 0 && forecastText(call, one.runsOutAt)}</td>
        <td class="n wide-only faint">${format.day(one.createdAt)}</td></tr>`,
    )}</tbody></table></div>`
}

function subaccountForm(call: AccountCall, problem?: string): Answer {
  const { account: own, form, language, path } = call
  const words = subaccountsWords(language)
  return page({
    title: words.make,
    status: problem === undefined ? 200 : 400,
    crumbs: [[words.title, path('subaccounts')]],
    body: html`${pageHead(words.make, words.makeLead)}${problemNote(call, problem)}<section class="box">
      <form class="pad stack" method="post" action="${path('subaccounts')}">
${inputField({ name: 'username', label: words.name, value: field(form, 'username'), hint: words.nameHint, required: true, autofocus: true, maxlength: 64 })}
${inputField({ name: 'email', label: words.email, type: 'email', value: field(form, 'email'), required: true, maxlength: 320 })}
${inputField({ name: 'password', label: words.password, type: 'password', autocomplete: 'new-password', hint: words.passwordHint(own.name) })}
${selectField({ name: 'credit', label: words.credit, value: field(form, 'credit'), choices: CREDIT_TYPES.map((one) => [one, words.kinds[one]] as const) })}
<div class="row"><button class="btn main" type="submit">${words.make}</button><a class="btn" href="${path('subaccounts')}">
  ${frameWords(language).cancel}</a></div></form></section>`,
  })
}

async function createSubaccount(call: AccountCall): Promise<Answer> {
  const { core, account: own, by, form, visitor } = call
  const principal = await core.people.principal(visitor, own.id)
  const password = passwordField(form)
  const made = await attempt(async () => {
    if (!principal) return undefined
    const wanted = {
      username: field(form, 'username'),
      email: field(form, 'email'),
      password: password === '' ? undefined : password,
      creditType: CREDIT_TYPES.find((one) => one === field(form, 'credit')) ?? 'unlimited',
    }
    return core.subaccounts.create(principal.account, wanted, by)
  })
  if (!made.ok) return subaccountForm(call, made.problem)
  return subaccountList(call, made.value && { username: made.value.subaccount.username, secret: made.value.secret })
}
