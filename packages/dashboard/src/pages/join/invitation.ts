import { type OpenInvitation, ServiceError } from '@postrider/core'
import { foreign, html, inputField } from '@postrider/ui'
import { type Answer, gate, redirect, session } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { type Call, field, passwordField, type UserCall } from '../../frame/call.ts'
import { frameWords } from '../../frame/words/frame-words.ts'
import { oidcWords } from '../start/oidc-words.ts'
import { formGate, goneGate, newPassword, tokenField } from './gates.ts'
import { joinWords } from './join-words.ts'

/** The page of an invitation's link. */
export async function invitationPage(call: Call): Promise<Answer> {
  const token = field(call.query, 'token')
  const open = await call.core.people.invitations.find(token)
  if (!open) return goneGate(call, joinWords(call.language).invitationGone)
  return open.hasUser ? forUser(call, token, open) : forNewcomer(call, token, open)
}

function forNewcomer(call: Call, token: string, open: OpenInvitation, problem?: string): Answer {
  const { config, form, language } = call
  const words = joinWords(language)
  const { email, accountName } = open
  if (config.signUp === 'closed') return goneGate(call, words.invitationGone)
  const { oidc } = call.core.people
  if (oidc.only) {
    const title = words.joinTitle(accountName)
    return gate({
      title,
      body: html`<div class="card"><div><h1>${title}</h1><p class="lead">${invitedAs(call, open)}</p></div><p>${words.byProvider(email)}</p>
        <a class="btn main wide" href="/app/oidc/begin"><span class="cut">${oidcWords(language).continueWith(oidc.host)}</span></a></div>`,
    })
  }
  return formGate({
    title: words.joinTitle(accountName),
    lead: invitedAs(call, open),
    action: '/app/invitation',
    problem,
    fields: html`${tokenField(token)}
      ${inputField({ name: 'name', label: words.name, value: field(form, 'name'), autocomplete: 'name', required: true, autofocus: true, maxlength: 100 })}
${inputField({ name: 'email', label: words.email, type: 'email', value: email, autocomplete: 'username', readonly: true, hint: words.invitedHere })}
${newPassword(call, words.password)}`,
    button: words.join,
  })
}

function forUser(call: Call, token: string, open: OpenInvitation, problem?: string): Answer {
  const { language, visitor } = call
  const words = joinWords(language)
  const { email, accountName } = open
  const title = words.joinTitle(accountName)
  if (!visitor) {
    const back = `/app/login?to=${encodeURIComponent(`/app/invitation?token=${token}`)}`
    return gate({
      title,
      body: html`<div class="card"><div><h1>${title}</h1><p class="lead">${invitedAs(call, open)}</p></div><p>${words.hasUser(email)}</p>
        <a class="btn main wide" href="${back}">${words.logIn}</a></div>`,
    })
  }
  if (visitor.user.email?.toLowerCase() !== email.toLowerCase() || problem !== undefined) {
    return gate({
      title: words.otherUser,
      status: problem === undefined ? 200 : 400,
      body: html`<div class="card"><h1>${words.otherUser}</h1><p>${foreign(words.otherUserText(email))}</p><form method="post" action="/app/logout">
        <button class="btn wide" type="submit">${words.logOut}</button></form></div>`,
    })
  }
  return formGate({
    title,
    lead: html`${invitedAs(call, open)} ${words.loggedInAs(email)}`,
    action: '/app/invitation/join',
    fields: tokenField(token),
    button: words.join,
  })
}

function invitedAs({ language }: Call, { role }: OpenInvitation): string {
  return joinWords(language).invitedAs(frameWords(language).roles[role])
}

/** Makes the invited user and logs them in. */
export async function acceptInvitation(call: Call): Promise<Answer> {
  const { core, form, request, address, language } = call
  const token = field(form, 'token')
  const person = { name: field(form, 'name'), password: passwordField(form) }
  const client = { address, agent: request.headers['user-agent'] }
  try {
    const accepted = await core.people.invitations.accept(token, person, client)
    return session(accepted.token, `/app/${accepted.accountId}`)
  } catch (error) {
    if (!(error instanceof ServiceError) || error.row.status >= 500) throw error
    const open = error.errorName === 'linkInvalid' ? undefined : await core.people.invitations.find(token)
    if (!open) return goneGate(call, joinWords(language).invitationGone)
    return open.hasUser ? forUser(call, token, open) : forNewcomer(call, token, open, error.message)
  }
}

/** Adds the account to those of the visitor. */
export async function joinAccount(call: UserCall): Promise<Answer> {
  const { core, form, visitor, address, language } = call
  const token = field(form, 'token')
  const joined = await attempt(() => core.people.invitations.acceptAs(token, visitor.user, address))
  if (joined.ok) return redirect(`/app/${joined.value}`, 'joined')
  const open = await core.people.invitations.find(token)
  return open ? forUser(call, token, open, joined.problem) : goneGate(call, joinWords(language).invitationGone)
}
