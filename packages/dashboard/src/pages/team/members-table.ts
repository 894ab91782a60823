import { type Invitation, type Member, ROLES } from '@postrider/core'
import { foreign, type Html, html, selectField, type Value } from '@postrider/ui'
import type { AccountCall, Call } from '../../frame/call.ts'
import { ask } from '../../frame/parts.ts'
import { frameWords } from '../../frame/words/frame-words.ts'
import { teamWords } from './team-words.ts'

export function membersTable(call: AccountCall, members: readonly Member[]): Html {
  const { format, language, visitor } = call
  const words = teamWords(language)
  const { roles } = frameWords(language)
  return html`<section class="box"><div class="scroll" tabindex="0" role="region" aria-label="${words.title}"><table><thead><tr><th>${words.member}
    </th><th class="wide-only">${words.role}</th><th class="wide-only">${words.factor}</th><th class="n wide-only">${words.since}</th>
    <th class="n wide-only">${words.seen}</th><th><span class="sr">${words.actions}</span></th></tr></thead><tbody>${members.map(
      (member) =>
        html`<tr><td><b class="any">${foreign(member.name)}</b>${member.userId === visitor.user.id && html` <span class="badge">${words.you}</span>`}
        ${member.disabled && html` <span class="badge bad">${words.disabled}</span>`}${
          member.email !== null &&
          html`<small class="any">
        ${foreign(member.email)}</small>`
        }<small class="narrow">${roles[member.role]}</small></td><td class="wide-only">${roles[member.role]}</td>
        <td class="wide-only">${factor(call, member)}</td><td class="n wide-only faint">${format.day(member.since)}</td><td class="n wide-only faint">${
          member.lastSeenAt ? format.ago(member.lastSeenAt) : words.never
        }</td><td class="n"><span class="acts">${changeRole(call, member)}${remove(call, member)}</span></td></tr>`,
    )}</tbody></table></div></section>`
}

function factor({ icon, language }: AccountCall, { secondFactor }: Member): Html {
  const words = teamWords(language)
  return secondFactor
    ? html`<span class="state good">${icon('check', 'good')}<span>${words.on}</span></span>`
    : html`<span class="state idle">${icon('x', 'idle')}<span>${words.off}</span></span>`
}

function changeRole({ language, path }: AccountCall, { userId, name, role }: Member): Html {
  const words = teamWords(language)
  const choice = roleField({ language }, { id: `role-${userId}`, value: role })
  return ask({
    language,
    id: `change-${userId}`,
    button: words.change,
    title: words.changeTitle(name),
    text: words.changeText,
    action: path(`team/${userId}/role`),
    fields: choice,
  })
}

function remove({ language, path }: AccountCall, { userId, name }: Member): Html {
  const words = teamWords(language)
  return ask({
    language,
    id: `remove-${userId}`,
    button: words.remove,
    title: words.removeTitle(name),
    text: words.removeText,
    action: path(`team/${userId}/remove`),
  })
}

/** The choice of a role. */
export function roleField(
  { language }: Pick<Call, 'language'>,
  { id, value }: { readonly id: string; readonly value: string },
): Html {
  const { roles } = frameWords(language)
  return selectField({
    name: 'role',
    id,
    label: teamWords(language).role,
    value,
    choices: ROLES.map((role) => [role, roles[role]]),
  })
}

/** The invitations that were neither accepted nor revoked; nothing without any. */
export function invitationsTable(call: AccountCall, invitations: readonly Invitation[]): Value {
  const { format, language, path } = call
  const words = teamWords(language)
  const { roles } = frameWords(language)
  return (
    invitations.length > 0 &&
    html`<section class="box"><header><h2>${words.invitations}</h2></header>
      <div class="scroll" tabindex="0" role="region" aria-label="${words.invitations}"><table><thead><tr><th>${words.email}</th><th class="wide-only">
      ${words.role}</th><th class="wide-only">${words.by}</th><th class="n wide-only">${words.until}</th><th><span class="sr">${words.actions}</span>
      </th></tr></thead><tbody>${invitations.map(
        ({ id, email, role, invitedBy, expiresAt, mailed }) =>
          html`<tr><td><span class="any">${foreign(email)}</span>${!mailed && html` <span class="badge wait">${words.notMailed}</span>`}
          <small class="narrow">${roles[role]}</small></td><td class="wide-only">${roles[role]}</td><td class="wide-only dim">
          ${invitedBy === null ? words.byOperator : foreign(invitedBy)}</td><td class="n wide-only faint">${format.time(expiresAt)}</td><td class="n">${ask(
            {
              language: call.language,
              id: `revoke-${id}`,
              button: words.revoke,
              title: words.revokeTitle(email),
              text: words.revokeText,
              action: path(`team/invitations/${id}/revoke`),
            },
          )}</td></tr>`,
      )}</tbody></table></div></section>`
  )
}
