import type { LogInResult } from '@postrider/core'
import { type Html, html, inputField } from '@postrider/ui'
import { type Answer, gate, session } from '../../frame/answer.ts'
import { type Call, field, passwordField } from '../../frame/call.ts'
import { PASSKEY_SCRIPT, passkeyForm } from '../../frame/forms/passkey-form.ts'
import { passkeyWords } from '../../frame/words/passkey-words.ts'
import { codeForm } from './code.ts'
import { oidcWords } from './oidc-words.ts'
import { ownPath } from './own-path.ts'
import { startWords } from './start-words.ts'
import { tooManyText } from './too-many.ts'

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
  const offersPasskeys = core.people.passkeys.isOn
  return gate({
    status: state.status ?? 200,
    title: words.logIn,
    scripts: offersPasskeys ? PASSKEY_SCRIPT : [],
    body: html`<div class="card"><h1>${words.logIn}</h1>${state.note !== undefined && html`<p class="oops" role="alert">${state.note}</p>`}${ways.map(
      (way, at) => html`${at > 0 && html`<div class="or">${words.or}</div>`}${way}`,
    )}${offersPasskeys && passkeyLogInForm(call, to)}</div>
<p class="hint">${words.where(new URL(config.publicUrl).host)}${signUp.isOpen && html` ${words.noUser} <a href="/app/sign-up">${words.signUp}</a>`}</p>`,
  })
}

function passwordForm({ language }: Call, to: string, { email = '', problem }: LogInState): Html {
  const words = startWords(language)
  return html`<form class="stack s" method="post" action="/app/login"><input type="hidden" name="to" value="${to}">
${inputField({ name: 'email', label: words.email, autocomplete: 'username', value: email, required: true, autofocus: email === '' })}
${inputField({
  name: 'password',
  label: words.password,
  type: 'password',
  autocomplete: 'current-password',
  required: true,
  problem,
  aside: html`<a class="push small" href="/app/forgotten">${words.forgotten}</a>`,
})}
<button class="btn main wide" type="submit">${words.logIn}</button></form>`
}

/** A passkey says who logs in. Its options are made when the button is pressed: those of the page itself would be too old. */
function passkeyLogInForm(call: Call, to: string): Html {
  const fields = html`<input type="hidden" name="to" value="${to}">`
  const at = '/app/login/passkey'
  return passkeyForm(call, { kind: 'get', action: at, from: at, fields, button: passkeyWords(call.language).use })
}

/** The way through the OpenID provider: the only one with OIDC_ONLY. */
function providerLink({ core, language }: Call, to: string): Html {
  const { host, only } = core.people.oidc
  const path = `/app/oidc/begin?to=${encodeURIComponent(to)}`
  return html`<a class="btn wide${only && ' main'}" href="${path}"><span class="cut">${oidcWords(language).continueWith(host)}</span></a>`
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
export async function afterPassword(
  call: Call,
  result: Extract<LogInResult, { kind: 'session' | 'second-factor' }>,
): Promise<Answer> {
  const to = ownPath(field(call.form, 'to'))
  return result.kind === 'session' ? session(result.token, to) : codeForm(call, { challenge: result.challenge, to })
}
