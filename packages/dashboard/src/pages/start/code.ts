import type { LogInResult } from '@postrider/core'
import { html, inputField } from '@postrider/ui'
import { type Answer, gate, session } from '../../frame/answer.ts'
import { type Call, field } from '../../frame/call.ts'
import { PASSKEY_SCRIPT, passkeyAnswer, passkeyForm } from '../../frame/forms/passkey-form.ts'
import { passkeyWords } from '../../frame/words/passkey-words.ts'
import { ownPath } from './own-path.ts'
import { startWords } from './start-words.ts'
import { tooManyText } from './too-many.ts'

/** The second step of a log-in: a code of the app, or a recovery code. */
export async function enterCode(call: Call): Promise<Answer> {
  const { core, form, request, address, language, token } = call
  const [challenge, code] = [field(form, 'challenge'), field(form, 'code')]
  const agent = request.headers['user-agent']
  const result = await core.people.secondFactor({ challenge, code, address, agent, replaces: token })
  return afterFactor(call, result, startWords(language).codeRefused)
}

/** The second step of a log-in by passkey. */
export async function usePasskey(call: Call): Promise<Answer> {
  const { core, form, request, address, language, token } = call
  const [challenge, response] = [field(form, 'challenge'), passkeyAnswer(form)]
  const client = { address, agent: request.headers['user-agent'], replaces: token }
  const result = await core.people.passkeys.finishSecondFactor({ challenge, response, ...client })
  return afterFactor(call, result, passkeyWords(language).refused)
}

function afterFactor(call: Call, result: LogInResult, refused: string): Answer | Promise<Answer> {
  const [challenge, to] = [field(call.form, 'challenge'), ownPath(field(call.form, 'to'))]
  if (result.kind === 'session') return session(result.token, to)
  if (result.kind !== 'too-many') return codeForm(call, { challenge, to, problem: refused, status: 401 })
  return codeForm(call, { challenge, to, problem: tooManyText(call, result.until), status: 429 })
}

interface CodeForm {
  /** From core's `logIn`. */
  readonly challenge: string
  readonly to: string
  readonly problem?: string
  readonly status?: number
}

/** The form for the second step, with the ways that the user has. */
export async function codeForm(call: Call, { challenge, to, problem, status = 200 }: CodeForm): Promise<Answer> {
  const words = startWords(call.language)
  const options = await call.core.people.passkeys.beginSecondFactor(challenge)
  const fields = html`<input type="hidden" name="to" value="${to}"><input type="hidden" name="challenge" value="${challenge}">`
  return gate({
    title: words.codeTitle,
    status,
    scripts: options ? PASSKEY_SCRIPT : [],
    body: html`<div class="card"><h1>${words.codeTitle}</h1>${
      options &&
      passkeyForm(call, {
        kind: 'get',
        action: '/app/login/code/passkey',
        options,
        fields,
        main: true,
        button: passkeyWords(call.language).use,
      })
    }<form class="stack s" method="post" action="/app/login/code">
${fields}
${inputField({ name: 'code', label: words.code, autocomplete: 'one-time-code', required: true, autofocus: true, hint: words.codeHint, problem })}
<button class="btn${!options && ' main'} wide" type="submit">${words.continue}</button></form></div>
<p class="hint"><a href="/app/login">${words.startOver}</a></p>`,
  })
}
