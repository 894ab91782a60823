import { type Answer, file, redirect, session } from '../../frame/answer.ts'
import { type Call, field } from '../../frame/call.ts'
import { passkeyAnswer } from '../../frame/forms/passkey-form.ts'
import { passkeyWords } from '../../frame/words/passkey-words.ts'
import { logInForm } from './log-in.ts'
import { ownPath } from './own-path.ts'
import { tooManyText } from './too-many.ts'

/** Options for the browser, as JSON, when the button is pressed: those of the page itself would be too old. */
export async function beginPasskey({ core }: Call): Promise<Answer> {
  if (!core.people.passkeys.isOn) return redirect('/app/login')
  const { options, cookie } = await core.people.passkeys.beginLogIn()
  return { ...file({ type: 'application/json', body: JSON.stringify(options) }), begun: cookie }
}

export async function logInByPasskey(call: Call): Promise<Answer> {
  const { core, form, request, address, begun, language, token } = call
  const client = { address, agent: request.headers['user-agent'], replaces: token }
  const response = passkeyAnswer(form)
  const result = await core.people.passkeys.finishLogIn({ response, cookie: begun, ...client })
  if (result.kind === 'session') return session(result.token, ownPath(field(form, 'to')))
  if (result.kind === 'too-many') return logInForm(call, { note: tooManyText(call, result.until), status: 429 })
  return logInForm(call, { note: passkeyWords(language).refused, status: 401 })
}
