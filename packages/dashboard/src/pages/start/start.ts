import type { AccountOfUser, LogInResult } from '@postrider/core'
import { html, inputField } from '@postrider/ui'
import { type Answer, gate, page, redirect, session } from '../../frame/answer.ts'
import { type Call, field, passwordField, type UserCall } from '../../frame/call.ts'
import { type DashboardRoute, everybody, users } from '../../frame/routes.ts'
import { mayIn } from '../../frame/visitor.ts'
import { firstForm, useFirstLink } from './first.ts'
import { ownPath } from './own-path.ts'
import { choosePreferences } from './preferences.ts'
import { startWords } from './start-words.ts'

/** Log-in, log-out, the first owner, and the way from /app to an account. */
export const START: readonly DashboardRoute[] = [
  users('GET', '/', home),
  users('GET', '/accounts', accountList),
  everybody('GET', '/login', async (call) => logInForm(call)),
  everybody('POST', '/login', logIn),
  everybody('GET', '/login/code', async () => redirect('/app/login')),
  everybody('POST', '/login/code', enterCode),
  users('POST', '/logout', logOut),
  everybody('GET', '/first', firstForm),
  everybody('POST', '/first', useFirstLink),
  everybody('POST', '/preferences', choosePreferences),
]

async function home({ core, visitor }: UserCall): Promise<Answer> {
  const [first] = visitor.accounts
  if (first) return redirect((await isNew(core, first)) ? `/app/${first.id}/first-steps` : `/app/${first.id}`)
  return redirect('/app/accounts')
}

/** Whether an account has no mail yet, so that its visitor needs the first steps. */
async function isNew(core: UserCall['core'], account: AccountOfUser): Promise<boolean> {
  if (!mayIn(account, 'events')) return false
  const { deliveries } = await core.messages.list({ accountId: account.id, search: {}, limit: 1 })
  return deliveries.length === 0
}

async function accountList({ visitor, language }: UserCall): Promise<Answer> {
  const words = startWords(language)
  const list = html`<ul class="list">${visitor.accounts.map(
    ({ id, name }) => html`<li><div><a class="go" href="/app/${id}">${name}</a></div></li>`,
  )}</ul>`
  const none = html`<div class="void"><h2>${words.noAccounts}</h2><p>${words.noAccountsText}</p></div>`
  return page({
    title: words.accounts,
    body: html`<header class="head"><div><h1>${words.accounts}</h1><p class="lead">${words.accountsLead}</p></div></header>
<section class="box">${visitor.accounts.length > 0 ? list : none}</section>`,
  })
}

interface LogInState {
  readonly email?: string
  readonly problem?: string
  readonly status?: number
}

function logInForm(call: Call, { email = '', problem, status = 200 }: LogInState = {}): Answer {
  const words = startWords(call.language)
  const to = ownPath(field(call.query, 'to') || field(call.form, 'to'))
  return gate({
    status,
    title: words.logIn,
    body: html`<div class="card"><h1>${words.logIn}</h1><form class="stack s" method="post" action="/app/login"><input type="hidden" name="to" value="${to}">
${inputField({ name: 'email', label: words.email, autocomplete: 'username webauthn', value: email, required: true, autofocus: email === '' })}
${inputField({ name: 'password', label: words.password, type: 'password', autocomplete: 'current-password', required: true, problem })}
<button class="btn main wide" type="submit">${words.logIn}</button></form></div>
<p class="hint">${words.where(new URL(call.config.publicUrl).host)}</p>`,
  })
}

async function logIn(call: Call): Promise<Answer> {
  const { core, form, request, address, language, token } = call
  const words = startWords(language)
  const email = field(form, 'email')
  const password = passwordField(form)
  const agent = request.headers['user-agent']
  const result = await core.people.logIn({ email, password, address, agent, replaces: token })
  switch (result.kind) {
    case 'refused':
      return logInForm(call, { email, problem: words.refused, status: 401 })
    case 'too-many':
      return logInForm(call, { email, problem: tooManyText(call, result.until), status: 429 })
    default:
      return afterPassword(call, result)
  }
}

/** The session after a password or a link, or the form for the second factor. */
export function afterPassword(call: Call, result: Extract<LogInResult, { kind: 'session' | 'second-factor' }>): Answer {
  const to = ownPath(field(call.form, 'to'))
  return result.kind === 'session' ? session(result.token, to) : codeForm(call, result.challenge, to)
}

export function tooManyText({ format, language }: Call, until: Date): string {
  const words = startWords(language)
  return `${words.tooMany} ${words.tooManyUntil} ${format.plainTime(until)}.`
}

async function enterCode(call: Call): Promise<Answer> {
  const { core, form, request, address, language, token } = call
  const words = startWords(language)
  const [challenge, code, to] = [field(form, 'challenge'), field(form, 'code'), ownPath(field(form, 'to'))]
  const agent = request.headers['user-agent']
  const result = await core.people.secondFactor({ challenge, code, address, agent, replaces: token })
  if (result.kind === 'session') return session(result.token, to)
  if (result.kind === 'too-many') return codeForm(call, challenge, to, tooManyText(call, result.until), 429)
  return codeForm(call, challenge, to, words.codeRefused, 401)
}

function codeForm({ language }: Call, challenge: string, to: string, problem?: string, status = 200): Answer {
  const words = startWords(language)
  return gate({
    title: words.codeTitle,
    status,
    body: html`<div class="card"><h1>${words.codeTitle}</h1><form class="stack s" method="post" action="/app/login/code">
<input type="hidden" name="to" value="${to}"><input type="hidden" name="challenge" value="${challenge}">
${inputField({ name: 'code', label: words.code, autocomplete: 'one-time-code', required: true, autofocus: true, hint: words.codeHint, problem })}
<button class="btn main wide" type="submit">${words.continue}</button></form></div>
<p class="hint"><a href="/app/login">${words.startOver}</a></p>`,
  })
}

async function logOut({ core, visitor }: UserCall): Promise<Answer> {
  await core.people.sessions.end(visitor.user.id, visitor.sessionId)
  return session(null, '/app/login')
}
