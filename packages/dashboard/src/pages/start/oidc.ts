import { ServiceError } from '@postrider/core'
import { type Answer, redirect, session } from '../../frame/answer.ts'
import { type Call, field } from '../../frame/call.ts'
import { logInForm } from './log-in.ts'
import { oidcWords } from './oidc-words.ts'
import { ownPath } from './own-path.ts'
import { tooManyText } from './too-many.ts'

/** Length of the longest path that is kept for after the log-in: the cookie has to hold it. */
const MAX_TO = 500

/** Sends the browser to the OpenID provider, and remembers the page to come back to. A link: a form may lead to no other site. */
export async function beginOidc(call: Call): Promise<Answer> {
  const { oidc } = call.core.people
  if (!oidc.isOn) return redirect('/app/login')
  const to = ownPath(field(call.query, 'to').slice(0, MAX_TO))
  const begun = await attemptBegin(call)
  if (begun === undefined) {
    return logInForm(call, { note: oidcWords(call.language).unreachable(oidc.host), status: 503 })
  }
  return { ...redirect(begun.url), begun: `${begun.cookie}.${Buffer.from(to).toString('base64url')}` }
}

async function attemptBegin({ core, log }: Call): Promise<{ url: string; cookie: string } | undefined> {
  try {
    return await core.people.oidc.begin()
  } catch (err) {
    if (!(err instanceof ServiceError && err.errorName === 'notReady')) throw err
    log.warn({ err }, 'the OpenID provider cannot be reached')
    return undefined
  }
}

/** The answer of the provider, which the browser brings. It comes from another site by its nature; the cookie shows that it was begun here. */
export async function finishOidc(call: Call): Promise<Answer> {
  const { core, config, request, address, begun, token, language } = call
  const { oidc } = core.people
  const query = request.url.indexOf('?')
  if (!oidc.isOn || query < 0) return redirect('/app/login')
  const [cookie = '', to = ''] = begun.split('.', 2)
  const url = `${config.publicUrl}/app/oidc${request.url.slice(query)}`
  const result = await oidc.finish({ url, cookie, address, agent: request.headers['user-agent'], replaces: token })
  if (result.kind === 'session') return session(result.token, ownPath(Buffer.from(to, 'base64url').toString()))
  if (result.kind === 'too-many') return logInForm(call, { note: tooManyText(call, result.until), status: 429 })
  return logInForm(call, { note: oidcWords(language).refused[result.reason](oidc.host), status: 401 })
}
