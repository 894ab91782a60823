import { html, inputField, type Value } from '@postrider/ui'
import { type Answer, gate } from './answer.ts'
import { type Form, passwordField, type UserCall } from './call.ts'
import { proofWords } from './proof-words.ts'

/** Name of the field with the visitor's password. */
const PROOF = 'proof'
/** Fields whose values are in no page: the visitor types them again. */
const SECRET = 'password'
/** Values of a form that the question carries on. */
const MAX_CARRIED = 50

/**
 * Does something that must not be done with a stolen session. If the visitor did not prove within 10 minutes who they are, asks for the
 * password first, and carries on the submitted form. A new password in it has to be typed again, because a page may be stored or looked at.
 */
export async function proved<C extends UserCall>(call: C, act: (call: C) => Promise<Answer>): Promise<Answer> {
  const { core, form, visitor, address, language, format } = call
  const password = passwordField(form, PROOF)
  if (password === '') return core.people.isFresh(visitor) ? act(call) : askForPassword(call)
  const result = await core.people.reauthenticate(visitor, password, address)
  const words = proofWords(language)
  switch (result.kind) {
    case 'done':
      return act({ ...call, visitor: { ...visitor, reauthenticatedAt: result.at } })
    case 'refused':
      return askForPassword(call, words.refused, 401)
    case 'too-many':
      return askForPassword(call, words.tooMany(format.plainTime(result.until)), 429)
  }
}

function askForPassword({ form, language, request, visitor }: UserCall, problem?: string, status = 200): Answer {
  const at = request.url.split('?', 1)[0] as string
  const words = proofWords(language)
  return gate({
    title: words.title,
    status,
    body: html`<div class="card"><div><h1>${words.title}</h1><p class="lead">${words.lead}</p></div><form class="stack s" method="post" action="${at}">${carried(form)}
<input type="text" name="username" value="${visitor.user.email ?? visitor.user.name}" autocomplete="username" hidden>
${inputField({ name: PROOF, label: words.password, type: 'password', autocomplete: 'current-password', required: true, autofocus: true, problem })}${
  Object.hasOwn(form, SECRET) &&
  inputField({ name: SECRET, label: words.newPassword, type: 'password', autocomplete: 'new-password', required: true })
}
<button class="btn main wide" type="submit">${words.confirm}</button></form></div>
<p class="hint">${words.otherwise} <a href="/app/security">${words.back}</a></p>`,
  })
}

function carried(form: Form): Value {
  return Object.entries(form)
    .filter(([name]) => name !== PROOF && name !== SECRET && name !== 'username')
    .flatMap(([name, value]) => [value ?? []].flat().map((one) => [name, one] as const))
    .slice(0, MAX_CARRIED)
    .map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)
}
