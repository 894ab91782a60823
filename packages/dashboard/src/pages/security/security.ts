import { foreign, type Html, html, inputField, LANGUAGES, selectField, type Value } from '@postrider/ui'
import { type Answer, page, redirect } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { field, passwordField, type UserCall } from '../../frame/call.ts'
import { notFound } from '../../frame/error-pages.ts'
import { proved } from '../../frame/forms/proof.ts'
import { pageHead, problemNote } from '../../frame/parts.ts'
import { themeOf, zoneChoices, zoneOf } from '../../frame/preferences.ts'
import { type DashboardRoute, users } from '../../frame/routes.ts'
import { frameWords } from '../../frame/words/frame-words.ts'
import { addPasskey, newPasskey, passkeysBox, removePasskey } from './passkeys.ts'
import { beginCodes, confirmCodes, removeCodes, renewRecoveryCodes, secondFactorBox } from './second-factor.ts'
import { securityWords } from './security-words.ts'
import { sessionList } from './session-list.ts'

export const SECURITY: readonly DashboardRoute[] = [
  users('GET', '/security', (call) => securityPage(call)),
  users('POST', '/security/name', rename),
  users('POST', '/security/password', (call) => proved(call, changePassword)),
  users('POST', '/security/codes', beginCodes),
  users('POST', '/security/codes/confirm', confirmCodes),
  users('POST', '/security/codes/recovery', renewRecoveryCodes),
  users('POST', '/security/codes/remove', removeCodes),
  users('POST', '/security/passkeys/new', newPasskey),
  users('POST', '/security/passkeys', addPasskey),
  users('POST', '/security/passkeys/remove', removePasskey),
  users('POST', '/security/sessions/end-others', async ({ core, visitor }) => {
    await core.people.sessions.endAll(visitor.user.id, visitor.sessionId)
    return redirect('/app/security', 'othersEnded')
  }),
  users('POST', '/security/sessions/:id/end', endSession),
]

interface Problems {
  readonly name?: string
  readonly password?: string
}

async function securityPage(call: UserCall, problems: Problems = {}): Promise<Answer> {
  const { core, language, visitor } = call
  const words = securityWords(language)
  const [ways, sessions] = await Promise.all([waysIn(call), core.people.sessions.list(visitor.user.id)])
  const refused = problems.name ?? problems.password
  return page({
    title: words.title,
    status: refused === undefined ? 200 : 400,
    body: html`${pageHead(words.title, words.lead)}${problemNote(call, refused)}${enrolNote(call)}
<div class="cols even"><div class="stack">${profileBox(call)}${looksBox(call)}</div><div class="stack">${ways}</div></div>
${sessionList(call, sessions)}`,
  })
}

/** The ways to log in. With OIDC_ONLY they are the provider's concern. */
async function waysIn(call: UserCall): Promise<Html> {
  const { oidc } = call.core.people
  if (!oidc.only) return html`${passwordBox(call)}${await passkeysBox(call)}${await secondFactorBox(call)}`
  const words = securityWords(call.language)
  return html`<section class="box"><header><h2>${words.method}</h2></header><p class="pad dim">${words.byProvider(oidc.host)}</p></section>`
}

function enrolNote({ icon, language, visitor }: UserCall): Value {
  const words = securityWords(language)
  return (
    visitor.mustEnrol &&
    html`<div class="note wait">${icon('lock', 'wait')}<div><b>${words.mustEnrol}</b><p>${words.mustEnrolText}</p></div></div>`
  )
}

function profileBox({ form, language, visitor }: UserCall): Html {
  const words = securityWords(language)
  const { name, email, verified } = visitor.user
  const shown = email === null ? words.noEmail : foreign(email)
  return html`<section class="box"><header><h2>${words.profile}</h2></header><form class="pad stack s" method="post" action="/app/security/name">
${inputField({ name: 'name', label: words.name, value: field(form, 'name') || name, autocomplete: 'name', required: true, maxlength: 100 })}
<dl class="dl"><dt>${words.email}</dt><dd class="any">${shown}${
    email !== null &&
    !verified &&
    html` <span class="badge wait">${words.unverified}
  </span>`
  }</dd></dl>
<div class="row"><button class="btn" type="submit">${words.save}</button></div></form></section>`
}

function passwordBox({ language, visitor }: UserCall): Html {
  const words = securityWords(language)
  if (visitor.user.holder)
    return html`<section class="box"><header><h2>${words.password}</h2></header><p class="pad dim">${words.heldPassword}</p></section>`
  return html`<section class="box"><header><h2>${words.password}</h2></header><form class="pad stack s" method="post" action="/app/security/password">
<input type="text" name="username" value="${visitor.user.email ?? visitor.user.name}" autocomplete="username" hidden>
${inputField({ name: 'password', label: words.newPassword, type: 'password', autocomplete: 'new-password', required: true, hint: words.passwordHint })}
<p class="hint">${words.passwordText}</p>
<div class="row"><button class="btn" type="submit">${words.changePassword}</button></div></form></section>`
}

/** Names of the languages, each in itself. */
const LANGUAGE_NAMES = { en: 'English', de: 'Deutsch' } as const

function looksBox({ language, request }: UserCall): Html {
  const words = securityWords(language)
  const frame = frameWords(language)
  return html`<section class="box"><header><h2>${words.looks}</h2></header><form class="pad stack s" method="post" action="/app/preferences">
    <input type="hidden" name="to" value="/app/security">
${selectField({ name: 'language', label: frame.language, value: language, choices: LANGUAGES.map((one) => [one, LANGUAGE_NAMES[one]]) })}
${selectField({
  name: 'theme',
  label: frame.theme,
  value: themeOf(request) || 'auto',
  choices: [
    ['auto', frame.themeAuto],
    ['light', frame.themeLight],
    ['dark', frame.themeDark],
  ],
})}
${selectField({
  name: 'zone',
  label: frame.timeZone,
  value: zoneOf(request) ?? 'account',
  choices: [['account', frame.zoneOfAccount], ...zoneChoices()],
  hint: words.looksText,
})}
<div class="row"><button class="btn" type="submit">${words.save}</button></div></form></section>`
}

async function rename(call: UserCall): Promise<Answer> {
  const { core, form, visitor } = call
  const renamed = await attempt(() => core.people.users.rename(visitor.user.id, field(form, 'name')))
  return renamed.ok ? redirect('/app/security', 'saved') : securityPage(call, { name: renamed.problem })
}

async function changePassword(call: UserCall): Promise<Answer> {
  const { core, form, visitor, address } = call
  const { sessionId, user } = visitor
  const changed = await attempt(() =>
    core.people.users.changePassword(user.id, passwordField(form), { sessionId, address }),
  )
  return changed.ok ? redirect('/app/security', 'saved') : securityPage(call, { password: changed.problem })
}

const ID = /^\d{1,15}$/

async function endSession(call: UserCall): Promise<Answer> {
  const { core, params, visitor } = call
  const id = params.id ?? ''
  const isEnded = ID.test(id) && (await core.people.sessions.end(visitor.user.id, Number(id)))
  return isEnded ? redirect('/app/security', 'ended') : notFound(call)
}
