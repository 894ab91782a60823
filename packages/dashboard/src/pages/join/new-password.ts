import { html, inputField } from '@postrider/ui'
import { type Answer, redirect } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { type Call, field, passwordField } from '../../frame/call.ts'
import { afterPassword } from '../start/log-in.ts'
import { tooManyText } from '../start/too-many.ts'
import { formGate, goneGate, newPassword, sentGate, tokenField } from './gates.ts'
import { joinWords } from './join-words.ts'

/** With OIDC_ONLY no password logs anyone in, so there is none to forget. */
export function forgottenPage(call: Call): Answer {
  return call.core.people.oidc.only ? redirect('/app/login') : forgottenForm(call)
}

function forgottenForm({ form, language }: Call, problem?: string, status?: number): Answer {
  const words = joinWords(language)
  return formGate({
    title: words.forgotten,
    lead: words.forgottenLead,
    action: '/app/forgotten',
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
    button: words.sendLink,
    foot: html`<a href="/app/login">${words.back}</a>`,
  })
}

export async function requestReset(call: Call): Promise<Answer> {
  const { core, form, request, address, language } = call
  if (core.people.oidc.only) return redirect('/app/login')
  const email = field(form, 'email')
  const result = await core.people.passwordReset.request(email, { address, agent: request.headers['user-agent'] })
  if (result.kind === 'too-many') return forgottenForm(call, tooManyText(call, result.until), 429)
  return sentGate(call, joinWords(language).resetSent(email))
}

export async function resetPage(call: Call): Promise<Answer> {
  const token = field(call.query, 'token')
  return (await call.core.people.passwordReset.isValid(token)) ? resetForm(call, token) : resetGone(call)
}

function resetForm(call: Call, token: string, problem?: string): Answer {
  const words = joinWords(call.language)
  return formGate({
    title: words.resetTitle,
    lead: words.resetLead,
    action: '/app/reset',
    problem,
    fields: html`${tokenField(token)}${newPassword(call, words.newPassword)}`,
    button: words.set,
  })
}

function resetGone(call: Call): Answer {
  const words = joinWords(call.language)
  return goneGate(call, words.resetGone, [words.forgotten, '/app/forgotten'])
}

export async function resetPassword(call: Call): Promise<Answer> {
  const { core, form, request, address } = call
  const token = field(form, 'token')
  const client = { address, agent: request.headers['user-agent'] }
  const used = await attempt(() => core.people.passwordReset.use(token, passwordField(form), client))
  if (!used.ok) return used.errorName === 'linkInvalid' ? resetGone(call) : resetForm(call, token, used.problem)
  const result = used.value
  if (result.kind === 'session' || result.kind === 'second-factor') return afterPassword(call, result)
  return resetGone(call)
}
