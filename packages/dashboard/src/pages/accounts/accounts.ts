import { ACCOUNT_FILTERS, type AccountFigures, type AccountFilter } from '@postrider/core'
import { checkField, foreign, type Html, html, inputField } from '@postrider/ui'
import { type Answer, page, redirect } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { field, type UserCall } from '../../frame/call.ts'
import { operatorOf, operatorPath } from '../../frame/operator.ts'
import { offsetOf, pager } from '../../frame/pager.ts'
import { emptyBox, pageHead, problemNote } from '../../frame/parts.ts'
import { type DashboardRoute, operators } from '../../frame/routes.ts'
import { frameWords } from '../../frame/words/frame-words.ts'
import { levelMark } from '../operator/standing.ts'
import { standingWords } from '../operator/standing-words.ts'
import { ACCOUNT } from './account-page.ts'
import { stateMark } from './account-state.ts'
import { accountsWords } from './accounts-words.ts'

export const OPERATED_ACCOUNTS: readonly DashboardRoute[] = [
  operators('GET', '/operator/accounts', accountList),
  operators('GET', '/operator/accounts/new', async (call) => accountForm(call)),
  operators('POST', '/operator/accounts', createAccount),
  ...ACCOUNT,
]

const PAGE = 50
const MAX_SEARCH = 100

async function accountList(call: UserCall): Promise<Answer> {
  const { core, icon, language, query } = call
  const words = accountsWords(language)
  const search = field(query, 'q').slice(0, MAX_SEARCH)
  const filter = ACCOUNT_FILTERS.find((one) => one === field(query, 'filter'))
  const offset = offsetOf(query, PAGE)
  const { accounts, total } = await core.reputation.accounts({
    search,
    limit: PAGE,
    offset,
    ...(filter ? { filter } : {}),
  })
  const create = html`<a class="btn main" href="${operatorPath('accounts/new')}">${icon('plus')}${words.create}</a>`
  const foot = pager(
    { ...call, path: (below = '') => operatorPath(below) },
    { at: 'accounts', offset, limit: PAGE, total, query: { q: search, filter: filter ?? '' } },
  )
  return page({
    title: words.title,
    body: html`${pageHead(words.title, words.lead, create)}${searchForm(call, search, filter)}
${accounts.length === 0 ? emptyBox(call, 'users', words.none, words.noneText) : html`<section class="box">${table(call, accounts)}${foot}</section>`}`,
  })
}

function searchForm({ icon, language }: UserCall, search: string, filter: AccountFilter | undefined): Html {
  const words = accountsWords(language)
  const { levels } = standingWords(language)
  const chip = (value: AccountFilter | undefined, label: string) =>
    html`<a class="chip" href="${operatorPath('accounts', {
      q: search === '' ? undefined : search,
      filter: value,
    })}"${filter === value && html` aria-current="true"`}>${label}</a>`
  return html`<div class="stack s"><form class="row" role="search" action="${operatorPath('accounts')}"><div class="find">${icon('search')}
    <label class="sr" for="q">${words.search}</label>
    <input class="in" id="q" name="q" type="search" value="${search}" placeholder="${words.search}" autocomplete="off" spellcheck="false"
      maxlength="${MAX_SEARCH}">
    <kbd class="wide-only">/</kbd></div><button class="btn" type="submit">${words.find}</button></form>
<nav class="pick" aria-label="${words.filter}">${chip(undefined, words.all)}
  ${ACCOUNT_FILTERS.map((one) => chip(one, one === 'suspended' || one === 'closed' ? words[one] : levels[one]))}</nav></div>`
}

function table(call: UserCall, accounts: readonly AccountFigures[]): Html {
  const { format, language } = call
  const words = accountsWords(language)
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.title}"><table class="hov"><thead><tr><th>${words.account}</th>
    <th class="n">${words.sent}</th><th class="n wide-only">${words.bounces}</th><th class="n wide-only">${words.complaints}</th><th>${words.standing}
    </th></tr></thead><tbody>${accounts.map((account) => {
      const { id, day, level } = account
      return html`<tr><td><a class="go any" href="${operatorPath(`accounts/${id}`)}">${foreign(account.name)}</a><small>${noteOf(call, account)}
        </small></td><td class="n">${format.number(day.accepted)}</td><td class="n wide-only">${format.share(day.hard, day.delivered + day.hard)}</td>
        <td class="n wide-only">${format.share(day.complained, day.delivered)}</td><td>
        ${stateMark(call, account) ?? levelMark(call, level ?? 'good')}</td></tr>`
    })}</tbody></table></div>`
}

function noteOf({ format, language, now }: UserCall, { id, parentId, expiresAt }: AccountFigures): string {
  const words = accountsWords(language)
  return [
    words.number(String(id)),
    ...(parentId === null ? [] : [words.ofParent(String(parentId))]),
    ...(expiresAt && expiresAt <= now ? [`${words.expired} ${format.plainTime(expiresAt)}`] : []),
  ].join(' · ')
}

function accountForm(call: UserCall, problem?: string): Answer {
  const { form, language } = call
  const words = accountsWords(language)
  return page({
    title: words.create,
    status: problem === undefined ? 200 : 400,
    crumbs: [[words.title, operatorPath('accounts')]],
    body: html`${pageHead(words.create, words.createLead)}${problemNote(call, problem)}<section class="box">
      <form class="pad stack" method="post" action="${operatorPath('accounts')}">
${inputField({ name: 'name', label: words.name, value: field(form, 'name'), hint: words.nameHint, required: true, autofocus: true, maxlength: 100 })}
${checkField({ name: 'owner', label: words.makeOwner, hint: words.makeOwnerHint, checked: field(form, 'owner') === 'on' })}
<div class="row"><button class="btn main" type="submit">${words.create}</button><a class="btn" href="${operatorPath('accounts')}">
  ${frameWords(language).cancel}</a></div></form></section>`,
  })
}

async function createAccount(call: UserCall): Promise<Answer> {
  const { core, form, visitor } = call
  const by = operatorOf(call)
  const made = await attempt(() => core.accounts.create(field(form, 'name'), by))
  if (!made.ok) return accountForm(call, made.problem)
  const { id } = made.value
  if (field(form, 'owner') !== 'on') return redirect(operatorPath(`accounts/${id}`), 'added')
  await core.people.members.add(id, visitor.user.id, 'owner', by)
  return redirect(`/app/${id}`, 'added')
}
