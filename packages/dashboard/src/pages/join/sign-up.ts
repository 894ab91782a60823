import { html, inputField } from '@postrider/ui'
import { type Answer, gate, session } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { type Call, field, passwordField } from '../../frame/call.ts'
import { tooManyText } from '../start/too-many.ts'
import { formGate, goneGate, newPassword, sentGate, tokenField } from './gates.ts'
import { joinWords } from './join-words.ts'

/** The form to sign up, or, unless SIGN_UP=open, the way to get in. */
export async function signUpForm(call: Call, problem?: string, status?: number): Promise<Answer> {
  const { core, form, language } = call
  const words = joinWords(language)
  if (!core.people.signUp.isOpen) {
    return gate({
      title: words.signUpClosed,
      body: html`<div class="card"><h1>${words.signUpClosed}</h1><p>${words.signUpClosedText}</p><a class="btn wide" href="/app/login">${words.back}</a></div>`,
    })
  }
  return formGate({
    title: words.signUp,
    lead: words.signUpLead,
    action: '/app/sign-up',
    problem,
    status,
    fields: inputField({
      name: 'email',
      label: words.email,
      type: 'email',
      value: field(form, 'email'),
      autocomplete: 'username',
      required: true,
      autofocus: true,
      maxlength: 320,
    }),
    button: words.signUp,
    foot: html`${words.already} <a href="/app/login">${words.logIn}</a>`,
  })
}

export async function signUp(call: Call): Promise<Answer> {
  const { core, form, request, address, language } = call
  const email = field(form, 'email')
  const client = { address, agent: request.headers['user-agent'] }
  const requested = await attempt(() => core.people.signUp.request(email, client))
  if (!requested.ok) return signUpForm(call, requested.problem)
  if (requested.value.kind === 'too-many') return signUpForm(call, tooManyText(call, requested.value.until), 429)
  return sentGate(call, joinWords(language).signUpSent(email))
}

/** The page of the link that confirms an address. Programs that look at links in mail do not press its button. */
export async function verifyPage(call: Call): Promise<Answer> {
  const token = field(call.query, 'token')
  return (await call.core.people.signUp.isValid(token)) ? verifyForm(call, token) : verifyGone(call)
}

function verifyGone(call: Call): Answer {
  const words = joinWords(call.language)
  return goneGate(call, words.verifyGone, [words.signUp, '/app/sign-up'])
}

function verifyForm(call: Call, token: string, problem?: string): Answer {
  const words = joinWords(call.language)
  return formGate({
    title: words.verifyTitle,
    lead: words.verifyText,
    action: '/app/verify',
    problem,
    fields: html`${tokenField(token)}
${inputField({ name: 'name', label: words.name, value: field(call.form, 'name'), autocomplete: 'name', required: true, autofocus: true, maxlength: 100 })}
${newPassword(call, words.password)}`,
    button: words.confirm,
  })
}

export async function verify(call: Call): Promise<Answer> {
  const { core, form, request, address } = call
  const token = field(form, 'token')
  const person = { name: field(form, 'name'), password: passwordField(form) }
  const client = { address, agent: request.headers['user-agent'] }
  const verified = await attempt(() => core.people.signUp.verify(token, person, client))
  if (verified.ok) return session(verified.value.token, `/app/${verified.value.accountId}`)
  return verified.errorName === 'linkInvalid' ? verifyGone(call) : verifyForm(call, token, verified.problem)
}
