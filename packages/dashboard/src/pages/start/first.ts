import { ServiceError } from '@postrider/core'
import { html, inputField } from '@postrider/ui'
import { type Answer, gate, session } from '../../frame/answer.ts'
import { type Call, field } from '../../frame/call.ts'
import { startWords } from './start-words.ts'

interface FirstState {
  readonly name?: string
  readonly email?: string
  readonly problem?: string
}

/** The form of the link that `npm start` prints: it makes the first owner. */
export async function firstForm(call: Call): Promise<Answer> {
  const token = field(call.query, 'token')
  return (await call.core.people.firstLink.isValid(token)) ? form(call, token) : gone(call)
}

export async function useFirstLink(call: Call): Promise<Answer> {
  const { core, request, address } = call
  const token = field(call.form, 'token')
  const [name, email] = [field(call.form, 'name'), field(call.form, 'email')]
  const password = typeof call.form.password === 'string' ? call.form.password : ''
  try {
    const client = { address, agent: request.headers['user-agent'] }
    return session((await core.people.firstLink.use(token, { name, email, password }, client)).token, '/app')
  } catch (error) {
    if (!(error instanceof ServiceError) || error.row.status >= 500) throw error
    if (error.errorName === 'linkInvalid') return gone(call)
    return form(call, token, { name, email, problem: error.message })
  }
}

function form({ language }: Call, token: string, { name = '', email = '', problem }: FirstState = {}): Answer {
  const words = startWords(language)
  return gate({
    title: words.firstTitle,
    status: problem === undefined ? 200 : 400,
    body: html`<div class="card"><div><h1>${words.firstTitle}</h1><p class="lead">${words.firstLead}</p></div>
      <form class="stack s" method="post" action="/app/first">
<input type="hidden" name="token" value="${token}">
${problem !== undefined && html`<p class="oops" role="alert">${problem}</p>`}
${inputField({ name: 'name', label: words.name, autocomplete: 'name', value: name, required: true, autofocus: true })}
${inputField({ name: 'email', label: words.email, type: 'email', autocomplete: 'username', value: email, required: true })}
${inputField({ name: 'password', label: words.password, type: 'password', autocomplete: 'new-password', required: true, hint: words.passwordHint })}
<button class="btn main wide" type="submit">${words.create}</button></form></div>`,
  })
}

function gone({ language }: Call): Answer {
  const words = startWords(language)
  return gate({
    title: words.firstGone,
    status: 410,
    body: html`<div class="card"><h1>${words.firstGone}</h1><p>${words.firstGoneText}</p><a class="btn wide" href="/app/login">${words.logIn}</a></div>`,
  })
}
