import { html, inputField } from '@postrider/ui'
import { type Answer, gate, page, redirect, session } from '../../frame/answer.ts'
import { type Call, field, type UserCall } from '../../frame/call.ts'
import { type DashboardRoute, everybody, users } from '../../frame/routes.ts'
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
  users('POST', '/logout', logOut),
  everybody('GET', '/first', firstForm),
  everybody('POST', '/first', useFirstLink),
  everybody('POST', '/preferences', choosePreferences),
]

async function home({ visitor }: UserCall): Promise<Answer> {
  const [first] = visitor.accounts
  if (first) return redirect(`/app/${first.id}`)
  return redirect('/app/accounts')
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
  const { core, form, request, address, language, format } = call
  const words = startWords(language)
  const email = field(form, 'email')
  // A password may begin or end with a space.
  const password = typeof form.password === 'string' ? form.password : ''
  const result = await core.people.logIn({ email, password, address, agent: request.headers['user-agent'] })
  const to = ownPath(field(form, 'to'))
  switch (result.kind) {
    case 'session':
      return session(result.token, to)
    case 'second-factor':
      return codeForm(call, result.challenge, to)
    case 'refused':
      return logInForm(call, { email, problem: words.refused, status: 401 })
    case 'too-many':
      return logInForm(call, {
        email,
        problem: `${words.tooMany} ${words.tooManyUntil} ${format.plainTime(result.until)}.`,
        status: 429,
      })
  }
}

function codeForm({ language }: Call, challenge: string, to: string, problem?: string): Answer {
  const words = startWords(language)
  return gate({
    title: words.codeTitle,
    status: problem === undefined ? 200 : 401,
    body: html`<div class="card"><h1>${words.codeTitle}</h1><form class="stack s" method="post" action="/app/login/code">
<input type="hidden" name="to" value="${to}"><input type="hidden" name="challenge" value="${challenge}">
${inputField({ name: 'code', label: words.code, autocomplete: 'one-time-code', required: true, autofocus: true, hint: words.codeHint, problem })}
<button class="btn main wide" type="submit">${words.continue}</button></form></div>`,
  })
}

async function logOut({ core, visitor }: UserCall): Promise<Answer> {
  await core.people.sessions.end(visitor.user.id, visitor.sessionId)
  return session(null, '/app/login')
}
