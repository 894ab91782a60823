import { ROLES } from '@postrider/core'
import { html, inputField, type Value } from '@postrider/ui'
import { type Answer, page, redirect } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { type AccountCall, field } from '../../frame/call.ts'
import { notFound } from '../../frame/error-pages.ts'
import { proved } from '../../frame/forms/proof.ts'
import { emptyBox, pageHead, problemNote } from '../../frame/parts.ts'
import { account, type DashboardRoute } from '../../frame/routes.ts'
import { frameWords } from '../../frame/words/frame-words.ts'
import { invitationsTable, membersTable, roleField } from './members-table.ts'
import { teamWords } from './team-words.ts'

export const TEAM: readonly DashboardRoute[] = [
  account('GET', '/team', 'team', (call) => team(call)),
  account('GET', '/team/new', 'team', async (call) => inviteForm(call)),
  account('POST', '/team', 'team', (call) => provedForOwners(call, invite)),
  account('POST', '/team/invitations/:id/revoke', 'team', revoke),
  account('POST', '/team/:user/role', 'team', (call) => provedForOwners(call, changeRole)),
  account('POST', '/team/:user/remove', 'team', removeMember),
]

const ID = /^\d{1,9}$/

/** An owner may do everything, so making one needs the password. */
function provedForOwners(call: AccountCall, act: (call: AccountCall) => Promise<Answer>): Promise<Answer> {
  return field(call.form, 'role') === 'owner' ? proved(call, act) : act(call)
}

interface Shown {
  readonly problem?: string
  /** Shown once: an invitation that could not be sent. */
  readonly note?: Value
}

async function team(call: AccountCall, { problem, note }: Shown = {}): Promise<Answer> {
  const { core, account: own, icon, language, path } = call
  const words = teamWords(language)
  const [members, invitations] = await Promise.all([
    core.people.members.list(own.id),
    core.people.invitations.list(own.id),
  ])
  const add = html`<a class="btn main" href="${path('team/new')}">${icon('plus')}${words.invite}</a>`
  return page({
    title: words.title,
    status: problem === undefined ? 200 : 400,
    body: html`${pageHead(words.title, words.lead, add)}${problemNote(call, problem)}${note}
${members.length === 0 ? emptyBox(call, 'users', words.none, words.noneText, add) : membersTable(call, members)}
${invitationsTable(call, invitations)}${rolesTable(call)}`,
  })
}

function rolesTable({ language }: AccountCall): Value {
  const words = teamWords(language)
  const { roles } = frameWords(language)
  return html`<details><summary class="q">${words.roles}</summary><dl class="dl later">${ROLES.map(
    (role) => html`<dt>${roles[role]}</dt><dd>
    ${words.about[role]}</dd>`,
  )}</dl></details>`
}

function inviteForm(call: AccountCall, problem?: string): Answer {
  const { form, language, path } = call
  const words = teamWords(language)
  return page({
    title: words.invite,
    status: problem === undefined ? 200 : 400,
    crumbs: [[words.title, path('team')]],
    body: html`${pageHead(words.inviteTitle, words.inviteLead)}${problemNote(call, problem)}
<section class="box"><form class="pad stack" method="post" action="${path('team')}">
${inputField({ name: 'email', label: words.email, type: 'email', value: field(form, 'email'), required: true, autofocus: true, maxlength: 320 })}
${roleField(call, { id: 'role', value: field(form, 'role') || 'developer' })}
<div class="row"><button class="btn main" type="submit">${words.send}</button><a class="btn" href="${path('team')}">${frameWords(language).cancel}</a>
  </div></form></section>
${rolesTable(call)}`,
  })
}

async function invite(call: AccountCall): Promise<Answer> {
  const { core, account: own, form, by, icon, language, path } = call
  const wanted = { email: field(form, 'email'), role: field(form, 'role') }
  const made = await attempt(() => core.people.invitations.create(own.id, wanted, by))
  if (!made.ok) return inviteForm(call, made.problem)
  const { invitation, url } = made.value
  if (url === undefined) return redirect(path('team'), 'invited')
  const words = teamWords(language)
  const note = html`<section class="note wait">${icon('info', 'wait')}<div class="stack s"><div><b>${words.noMail}</b><p>
    ${words.noMailText(invitation.email)}</p></div>
<div class="secret"><code id="secret">${url}</code><button class="btn main" type="button" data-copy-from="secret">${icon('copy')}${words.copy}</button></div>
<div class="row"><a href="${path('team')}">${words.handed}</a></div></div></section>`
  return team(call, { note })
}

async function revoke(call: AccountCall): Promise<Answer> {
  const { core, account: own, params, by, path } = call
  const id = params.id ?? ''
  const isRevoked = ID.test(id) && (await core.people.invitations.revoke(own.id, Number(id), by))
  return isRevoked ? redirect(path('team'), 'removed') : notFound(call)
}

async function changeRole(call: AccountCall): Promise<Answer> {
  const { core, account: own, form, params, by, path } = call
  if (!ID.test(params.user ?? '')) return notFound(call)
  const user = Number(params.user)
  const changed = await attempt(() => core.people.members.change(own.id, user, field(form, 'role'), by))
  if (changed.ok) return redirect(path('team'), 'saved')
  return changed.errorName === 'memberUnknown' ? notFound(call) : team(call, { problem: changed.problem })
}

async function removeMember(call: AccountCall): Promise<Answer> {
  const { core, account: own, params, by, path, visitor } = call
  if (!ID.test(params.user ?? '')) return notFound(call)
  const user = Number(params.user)
  const removed = await attempt(() => core.people.members.remove(own.id, user, by))
  // The account is no longer one of the visitor's.
  if (removed.ok) return user === visitor.user.id ? redirect('/app', 'removed') : redirect(path('team'), 'removed')
  return removed.errorName === 'memberUnknown' ? notFound(call) : team(call, { problem: removed.problem })
}
