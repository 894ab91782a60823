import type { SubaccountFigures } from '@postrider/core'
import { foreign, type Html, html, inputField, selectField } from '@postrider/ui'
import { type Answer, page, redirect } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { type AccountCall, field, passwordField } from '../../frame/call.ts'
import { notFound } from '../../frame/error-pages.ts'
import { proved } from '../../frame/forms/proof.ts'
import { actButton, ask, byApi, pageHead, problemNote } from '../../frame/parts.ts'
import { account, type DashboardRoute } from '../../frame/routes.ts'
import { creditTiles, DAYS, daysShown, historyBox, useChart } from '../credits/credit-parts.ts'
import { subaccountState } from './subaccount-state.ts'
import { subaccountsWords } from './subaccounts-words.ts'

/** One subaccount: its figures, its credit, and what its parent may change. */
export const SUBACCOUNT: readonly DashboardRoute[] = [
  account('GET', '/subaccounts/:name', 'subaccounts', (call) => subaccountPage(call)),
  account('POST', '/subaccounts/:name', 'subaccounts', (call) =>
    // A new password gives access to everything in the subaccount.
    passwordField(call.form) === '' ? save(call) : proved(call, save),
  ),
  account('POST', '/subaccounts/:name/credit', 'subaccounts', moveCredit),
  account('POST', '/subaccounts/:name/suspend', 'subaccounts', (call) => setDisabled(call, true)),
  account('POST', '/subaccounts/:name/resume', 'subaccounts', (call) => setDisabled(call, false)),
  account('POST', '/subaccounts/:name/remove', 'subaccounts', (call) => proved(call, remove)),
]

/** Changes of credit that are shown; the audit log has all. */
const MAX_HISTORY = 20

async function subaccountPage(call: AccountCall, problem?: string): Promise<Answer> {
  const { core, account: own, language, now, params, path } = call
  const words = subaccountsWords(language)
  const wanted = { limit: 1, offset: 0, username: params.name as string }
  const [one] = (await core.subaccounts.figures(own.id, wanted)).subaccounts
  if (!one) return notFound(call)
  const [usage, history] = await Promise.all([
    core.credits.usage(one.id, { ...daysShown(now), limit: DAYS, offset: 0 }),
    core.audit.latest(one.id, { limit: MAX_HISTORY, action: 'credit.' }),
  ])
  return page({
    title: one.username,
    status: problem === undefined ? 200 : 400,
    crumbs: [[words.title, path('subaccounts')]],
    body: html`${pageHead(
      foreign(one.username),
      html`${subaccountState(call, one)} ${words.logsInAs(`${own.name}/${one.username}`)}`,
      buttons(call, one),
    )}${problemNote(call, problem)}
${creditTiles(call, one)}
${useChart(call, usage)}
<div class="cols even"><section class="box w7">${creditForm(call, one)}</section><section class="box w5">${changeForm(call, one)}</section></div>
${historyBox(call, history)}
${byApi(
  call,
  { method: 'GET', path: `/v2/subaccounts/getcreditdetails?username=${encodeURIComponent(one.username)}` },
  {
    method: 'POST',
    path: '/v2/subaccounts/setsubaccountcredit',
    body: { username: one.username, action: 'increase', amount: 500 },
  },
)}`,
  })
}

const pathOf = ({ params, path }: AccountCall, below = ''): string =>
  path(`subaccounts/${encodeURIComponent(params.name as string)}${below}`)

function buttons(call: AccountCall, { disabled, username }: SubaccountFigures): Html {
  const words = subaccountsWords(call.language)
  const suspend = ask({
    language: call.language,
    id: 'suspend',
    button: words.suspend,
    title: words.suspendTitle(username),
    text: words.suspendText,
    action: pathOf(call, '/suspend'),
  })
  const removal = ask({
    language: call.language,
    id: 'remove',
    button: words.remove,
    title: words.removeTitle(username),
    text: words.removeText,
    action: pathOf(call, '/remove'),
  })
  return html`${disabled ? actButton(words.resume, pathOf(call, '/resume')) : suspend}${removal}`
}

function creditForm(call: AccountCall, { credit }: SubaccountFigures): Html {
  const { form, language } = call
  const words = subaccountsWords(language)
  return html`<header><h2>${words.move}</h2></header><form class="pad stack s" method="post" action="${pathOf(call, '/credit')}"><p class="hint">
    ${words.moveText}</p>
${inputField({ name: 'amount', label: words.amount, type: 'number', value: field(form, 'amount'), required: true, maxlength: 13 })}
<div class="row"><button class="btn" type="submit" name="action" value="increase">${words.add}</button>
  ${credit.limited && html`<button class="btn" type="submit" name="action" value="decrease">${words.take}</button>`}</div></form>`
}

function changeForm(call: AccountCall, { creditType, email }: SubaccountFigures): Html {
  const { form, language } = call
  const words = subaccountsWords(language)
  return html`<header><h2>${words.change}</h2></header><form class="pad stack s" method="post" action="${pathOf(call)}">
${inputField({ name: 'email', label: words.email, type: 'email', value: field(form, 'email') || email, required: true, maxlength: 320 })}
${inputField({ name: 'password', label: words.password, type: 'password', autocomplete: 'new-password', hint: words.newPasswordHint })}
${selectField({
  name: 'credit',
  label: words.credit,
  value: field(form, 'credit') || creditType,
  choices: (['unlimited', 'one_time_credit'] as const).map((one) => [one, words.kinds[one]] as const),
})}
<div class="row"><button class="btn" type="submit">${words.save}</button></div></form>`
}

/** Changes the subaccount of the path, and shows its page again. */
async function change(call: AccountCall, said: string, act: (name: string) => Promise<unknown>): Promise<Answer> {
  const done = await attempt(() => act(call.params.name as string))
  if (done.ok) return redirect(pathOf(call), said)
  return done.errorName === 'subaccountUnknown' ? notFound(call) : subaccountPage(call, done.problem)
}

function save(call: AccountCall): Promise<Answer> {
  const { core, account: own, by, form } = call
  const password = passwordField(form)
  const creditType = (['unlimited', 'one_time_credit'] as const).find((one) => one === field(form, 'credit'))
  return change(call, 'saved', async (name) => {
    const { subaccounts } = await core.subaccounts.figures(own.id, { limit: 1, offset: 0, username: name })
    return core.subaccounts.update(
      own.id,
      name,
      {
        email: field(form, 'email'),
        password: password === '' ? undefined : password,
        creditType: creditType === subaccounts[0]?.creditType ? undefined : creditType,
      },
      by,
    )
  })
}

function moveCredit(call: AccountCall): Promise<Answer> {
  const { core, account: own, by, form } = call
  const action = field(form, 'action') === 'decrease' ? 'decrease' : 'increase'
  // An empty amount is refused like any other that is not a whole number.
  const amount = field(form, 'amount')
  return change(call, 'saved', (name) =>
    core.subaccounts[action](own.id, name, amount === '' ? Number.NaN : Number(amount), by),
  )
}

function setDisabled(call: AccountCall, disabled: boolean): Promise<Answer> {
  const { core, account: own, by } = call
  return change(call, disabled ? 'paused' : 'resumed', (name) =>
    core.subaccounts.setDisabled(own.id, name, disabled, by),
  )
}

async function remove(call: AccountCall): Promise<Answer> {
  const { core, account: own, by, params, path } = call
  const removed = await attempt(() => core.subaccounts.remove(own.id, params.name as string, by))
  return removed.ok ? redirect(path('subaccounts'), 'removed') : notFound(call)
}
