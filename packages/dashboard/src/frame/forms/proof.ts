import { html, inputField, type Value } from '@postrider/ui'
import { type Answer, gate } from '../answer.ts'
import { type Form, passwordField, type UserCall } from '../call.ts'
import { passkeyWords } from '../words/passkey-words.ts'
import { proofWords } from '../words/proof-words.ts'
import { PASSKEY_SCRIPT, passkeyAnswer, passkeyForm } from './passkey-form.ts'

/** Name of the field with the visitor's password. */
const PROOF = 'proof'
/** Fields whose values are in no page: the visitor types them again. */
const SECRET = 'password'
/** Name of the field with the browser's answer about a passkey, which proves the same. */
const PASSKEY_PROOF = 'proof-passkey'
/** Values of a form that the question carries on. */
const MAX_CARRIED = 50

/**
 * Does something that must not be done with a stolen session. If the visitor did not prove within 10 minutes who they are, asks for the
 * password first, and carries on the submitted form. A new password in it has to be typed again, because a page may be stored or looked at.
 */
export async function proved<C extends UserCall>(call: C, act: (call: C) => Promise<Answer>): Promise<Answer> {
  const { core, form, visitor, address, language, format } = call
  const password = passwordField(form, PROOF)
  const passkey = passkeyAnswer(form, PASSKEY_PROOF)
  if (password === '' && passkey === undefined) return core.people.isFresh(visitor) ? act(call) : askForPassword(call)
  const result = await (passkey === undefined
    ? core.people.reauthenticate(visitor, password, address)
    : core.people.passkeys.reauthenticate(visitor, passkey, address))
  const words = proofWords(language)
  switch (result.kind) {
    case 'done':
      return act({ ...call, visitor: { ...visitor, reauthenticatedAt: result.at } })
    case 'refused':
      return askForPassword(call, passkey === undefined ? words.refused : passkeyWords(language).refused, 401)
    case 'too-many':
      return askForPassword(call, words.tooMany(format.plainTime(result.until)), 429)
  }
}

async function askForPassword(call: UserCall, problem?: string, status = 200): Promise<Answer> {
  const { core, form, language, request, visitor } = call
  const options = await core.people.passkeys.beginReauthentication(visitor)
  const at = request.url.split('?', 1)[0] as string
  const words = proofWords(language)
  const fields = html`${carried(form)}${newPassword(call, `passkey-${SECRET}`)}`
  return gate({
    title: words.title,
    status,
    scripts: PASSKEY_SCRIPT,
    body: html`<div class="card"><div><h1>${words.title}</h1><p class="lead">${words.lead}</p></div><form class="stack s" method="post" action="${at}">
      ${carried(form)}
<input type="text" name="username" value="${visitor.user.email ?? visitor.user.name}" autocomplete="username" hidden>
${inputField({ name: PROOF, label: words.password, type: 'password', autocomplete: 'current-password', required: true, autofocus: true, problem })}
  ${newPassword(call, SECRET)}
<button class="btn main wide" type="submit">${words.confirm}</button></form>${
      options &&
      passkeyForm(call, {
        kind: 'get',
        action: at,
        options,
        field: PASSKEY_PROOF,
        fields,
        button: words.usePasskey,
      })
    }</div>
<p class="hint">${words.otherwise} <a href="${at}">${words.back}</a></p>`,
  })
}

/** The field for the new password of the form, if it has one. */
function newPassword({ form, language }: UserCall, id: string): Value {
  const label = proofWords(language).newPassword
  return (
    Object.hasOwn(form, SECRET) &&
    inputField({ name: SECRET, id, label, type: 'password', autocomplete: 'new-password', required: true })
  )
}

function carried(form: Form): Value {
  return Object.entries(form)
    .filter(([name]) => ![PROOF, PASSKEY_PROOF, SECRET, 'username'].includes(name))
    .flatMap(([name, value]) => [value ?? []].flat().map((one) => [name, one] as const))
    .slice(0, MAX_CARRIED)
    .map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)
}
