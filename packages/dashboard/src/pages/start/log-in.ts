import type { LogInResult } from '@postrider/core'
import { type Html, html, inputField } from '@postrider/ui'
import { type Answer, gate, session } from '../../frame/answer.ts'
import { type Call, field, passwordField } from '../../frame/call.ts'
import { oidcWords } from './oidc-words.ts'
import { ownPath } from './own-path.ts'
import { startWords } from './start-words.ts'

interface LogInState {
  readonly email?: string
  readonly problem?: string
  /** Why another way to log in failed. */
  readonly note?: string
  readonly status?: number
}

/** The form of the log-in; it leads back to the page that needs it. */
export function logInForm(call: Call, state: LogInState = {}): Answer {
  const { core, config, language } = call
  const words = startWords(language)
  const { oidc, signUp } = core.people
  const to = ownPath(field(call.query, 'to') || field(call.form, 'to'))
  const ways = [oidc.isOn && providerLink(call, to), !oidc.only && passwordForm(call, to, state)].filter(Boolean)
  return gate({
    status: state.status ?? 200,
    title: words.logIn,
    body: html`<div class="card"><h1>${words.logIn}</h1>${state.note !== undefined && html`<p class="oops" role="alert">${state.note}</p>`}${ways.map(
      (way, at) => html`${at > 0 && html`<div class="or">${words.or}</div>`}${way}`,
    )}</div>
<p class="hint">${words.where(new URL(config.publicUrl).host)}${signUp.isOpen && html` ${words.noUser} <a href="/app/sign-up">${words.signUp}</a>`}</p>`,
  })
}

function passwordForm({ language }: Call, to: string, { email = '', problem }: LogInState): Html {
  const words = startWords(language)
  return html`<form class="stack s" method="post" action="/app/login"><input type="hidden" name="to" value="${to}">
${inputField({ name: 'email', label: words.email, autocomplete: 'username', value: email, required: true, autofocus: email === '' })}
${inputField({ name: 'password', label: words.password, type: 'password', autocomplete: 'current-password', required: true, problem, aside: html`<a class="push small" href="/app/forgotten">${words.forgotten}</a>` })}
<button class="btn main wide" type="submit">${words.logIn}</button></form>`
}

/** The way through the OpenID provider: the only one with OIDC_ONLY. */
function providerLink({ core, language }: Call, to: string): Html {
  const { host, only } = core.people.oidc
  const path = `/app/oidc/begin?to=${encodeURIComponent(to)}`
  return html`<a class="btn wide${only && ' main'}" href="${path}">${oidcWords(language).continueWith(host)}</a>`
}

/** Logs in by password. */
export async function logIn(call: Call): Promise<Answer> {
  const { core, form, request, address, language, token } = call
  const words = startWords(language)
  const { oidc } = core.people
  if (oidc.only) return logInForm(call, { note: oidcWords(language).only(oidc.host), status: 403 })
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

/** Why nothing was tried, and when it can be. */
export function tooManyText({ format, language }: Call, until: Date): string {
  const words = startWords(language)
  return `${words.tooMany} ${words.tooManyUntil} ${format.plainTime(until)}.`
}

/** The second step of a log-in: a code of the app, or a recovery code. */
export async function enterCode(call: Call): Promise<Answer> {
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
