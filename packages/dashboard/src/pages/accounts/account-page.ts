import {
  type AccountFigures,
  type AccountStanding,
  classOf,
  DELIVERY_CLASSES,
  isClassName,
  type Member,
  REPUTATION_RULES,
} from '@postrider/core'
import { foreign, type Html, html, inputField, selectField, type Value } from '@postrider/ui'
import { type Answer, page, redirect } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { field, type UserCall } from '../../frame/call.ts'
import { proved } from '../../frame/forms/proof.ts'
import { idIn, operatorOf, operatorPath } from '../../frame/operator.ts'
import { actButton, ask, byApi, copyable, emptyBox, pageHead, problemNote } from '../../frame/parts.ts'
import { type DashboardRoute, operators } from '../../frame/routes.ts'
import { tlsNote } from '../../frame/tls-note.ts'
import { frameWords } from '../../frame/words/frame-words.ts'
import { figuresText, levelMark, ruleText } from '../operator/standing.ts'
import { closedNote, confirmDeletion, deletionForm, planDeletion } from './account-deletion.ts'
import { stateMark } from './account-state.ts'
import { accountsWords } from './accounts-words.ts'

/** One account: its standing and state, and the way to look at its pages. */
export const ACCOUNT: readonly DashboardRoute[] = [
  operators('GET', '/operator/accounts/:id', (call) => accountPage(call)),
  operators('POST', '/operator/accounts/:id/look', lookAt),
  operators('POST', '/operator/look-away', lookAway),
  operators('POST', '/operator/accounts/:id/hold', (call) =>
    change(call, 'paused', (id, by) => {
      const { core, form } = call
      const name = field(form, 'class')
      const classes = isClassName(name) ? { classes: [classOf(name)] } : {}
      return core.reputation.hold({ accountId: id, reason: field(form, 'reason'), ...classes }, by)
    }),
  ),
  operators('POST', '/operator/accounts/:id/release', (call) =>
    change(call, 'resumed', (id, by) => call.core.reputation.release(id, by)),
  ),
  operators('POST', '/operator/accounts/:id/rules', (call) =>
    change(call, 'saved', (id, by) => {
      const rules = field(call.form, 'rules')
      return call.core.reputation.setRules(id, rules === 'default' ? null : rules, by)
    }),
  ),
  operators('POST', '/operator/accounts/:id/suspend', (call) =>
    change(call, 'saved', (id, by) => call.core.accounts.suspend(id, by)),
  ),
  operators('POST', '/operator/accounts/:id/resume', (call) =>
    change(call, 'resumed', (id, by) => call.core.accounts.resume(id, by)),
  ),
  operators('POST', '/operator/accounts/:id/rename', (call) =>
    change(call, 'saved', async (id, by) => {
      await call.core.accounts.rename(id, field(call.form, 'name'), by)
      call.core.people.sessions.forget()
    }),
  ),
  operators('POST', '/operator/accounts/:id/deletion', (call) => ofAccount(call, planDeletion)),
  operators('POST', '/operator/accounts/:id/deletion/confirm', (call) =>
    proved(call, (call) => ofAccount(call, confirmDeletion)),
  ),
  operators('POST', '/operator/accounts/:id/restore', (call) =>
    change(call, 'resumed', (id, by) => call.core.retention.deletions.restore(id, by)),
  ),
  operators('POST', '/operator/accounts/:id/invite', (call) => proved(call, invite)),
]

interface Shown {
  readonly problem?: string | undefined
  /** The link of an invitation that could not be sent, which is on this page only. */
  readonly link?: string | undefined
}

async function accountPage(call: UserCall, { problem, link }: Shown = {}): Promise<Answer> {
  const { core, language, params } = call
  const words = accountsWords(language)
  const account = await accountOf(call)
  const crumbs = [[words.title, operatorPath('accounts')]] as const
  if (!account) {
    const texts = frameWords(language)
    const body = emptyBox(call, 'users', words.none, texts.notFoundText)
    return page({ title: texts.notFound, status: 404, crumbs, body })
  }
  const [standing, members] = await Promise.all([
    core.reputation.show(account.id),
    core.people.members.list(account.id),
  ])
  const closed = account.closedAt && (await closedNote(call, account))
  const deletion = !account.closedAt && html`<section class="box">${deletionForm(call, account)}</section>`
  // A subaccount has the name that its parent has given it, and is deleted by it.
  const changes =
    account.parentId === null && html`<section class="box">${nameForm(call, account)}</section>${deletion}`
  return page({
    title: account.name,
    crumbs,
    status: problem === undefined ? 200 : 400,
    body: html`${pageHead(foreign(account.name), words.number(String(params.id)), buttons(call, account))}${problemNote(call, problem)}
${closed}${await tlsNote(call, account.id)}${
  link && html`<div class="note"><div><p>${words.handOver}</p>${copyable(call, link, words.invite)}</div></div>`
}
${tiles(call, account, standing)}
<div class="cols"><div class="stack w7"><section class="box">${holdsPart(call, standing)}</section><section class="box">${membersPart(call, members)}
  </section>${changes}</div>
<section class="box w5">${holdForm(call, standing)}</section></div>
${byApi(
  call,
  { method: 'GET', path: `/operator/v1/accounts/${account.id}/standing` },
  { method: 'POST', path: `/operator/v1/accounts/${account.id}/hold`, body: { reason: '…' } },
)}`,
  })
}

/** The account of the path; undefined if there is none. */
async function accountOf({ core, params }: UserCall): Promise<AccountFigures | undefined> {
  const id = idIn(params.id)
  if (id === undefined) return undefined
  const { accounts } = await core.reputation.accounts({ id, limit: 1, offset: 0 })
  return accounts[0]
}

const pathOf = ({ params }: UserCall, below = ''): string => operatorPath(`accounts/${params.id}${below}`)

function buttons(call: UserCall, { id, state }: AccountFigures): Value {
  const { icon, language, visitor } = call
  const words = accountsWords(language)
  const isMember = visitor.accounts.some((one) => one.id === id && one.role !== 'observer')
  const look = isMember
    ? html`<a class="btn main" href="/app/${id}">${words.open}</a>`
    : html`<form method="post" action="${pathOf(call, '/look')}"><button class="btn main" type="submit" title="${words.lookHint}">${icon('eye')}
      ${words.look}</button></form>`
  const change =
    state === 'suspended'
      ? actButton(words.resume, pathOf(call, '/resume'))
      : ask({
          language: call.language,
          id: 'suspend',
          button: words.suspend,
          title: words.suspendTitle,
          text: words.suspendText,
          action: pathOf(call, '/suspend'),
        })
  return html`${change}${look}`
}

function tiles(call: UserCall, account: AccountFigures, { day }: AccountStanding): Html {
  const { format, icon, language } = call
  const words = accountsWords(language)
  const outcomes = day.delivered + day.hard
  const tile = (name: string, value: Value, small: Value) =>
    html`<div class="tile"><span class="k">${name}</span><span class="v">${value}</span><small>${small}</small></div>`
  const mark =
    stateMark(call, account) ??
    html`<span class="state good">${icon('check', 'good')}<span>${words.active}</span></span>`
  return html`<section class="tiles" aria-label="${words.day}">
${tile(words.sent, format.number(day.accepted), '')}
${tile(words.delivered, format.number(day.delivered), '')}
${tile(words.bounces, format.share(day.hard, outcomes), `${format.number(day.hard)} ${words.ofOutcomes}`)}
${tile(words.complaints, format.share(day.complained, day.delivered), `${format.number(day.complained)} ${words.ofDelivered}`)}
<div class="tile"><span class="k">${words.standing}</span><div class="stack xs">${levelMark(call, account.level ?? 'good')}${mark}</div></div>
</section>`
}

function holdsPart(call: UserCall, { holds, since }: AccountStanding): Html {
  const { format, language } = call
  const words = accountsWords(language)
  const release = ask({
    language: call.language,
    id: 'release',
    button: words.release,
    title: words.releaseTitle,
    text: words.releaseText,
    action: pathOf(call, '/release'),
  })
  const head = html`<header><h2>${words.holds}</h2>${holds.length > 0 && html`<span class="push">${release}</span>`}</header>`
  const foot = since && html`<footer>${words.releasedAt} ${format.time(since)}</footer>`
  if (holds.length === 0) return html`${head}<div class="void"><p>${words.noHolds}</p></div>${foot}`
  return html`${head}<ul class="list">${holds.map(
    (hold) =>
      html`<li><div>${levelMark(call, hold.level)}<p>${ruleText(call, hold)}</p><small class="faint">
        ${[figuresText(call, hold)].filter((text) => text !== '')} · ${format.ago(hold.since)}</small></div></li>`,
  )}</ul>${foot}`
}

function membersPart(call: UserCall, members: readonly Member[]): Html {
  const { form, format, language } = call
  const words = accountsWords(language)
  const { roles } = frameWords(language)
  const list =
    members.length === 0
      ? html`<div class="void"><p>${words.noMembers}</p></div>`
      : html`<ul class="list">${members.slice(0, 50).map(
          ({ name, email, role, lastSeenAt }) =>
            html`<li><div><b>${foreign(name)}</b> <span class="badge">${roles[role]}</span><p class="any">
                ${email === null ? '' : foreign(email)} · ${lastSeenAt ? html`${words.seen} ${format.ago(lastSeenAt)}` : words.never}</p></div></li>`,
        )}</ul>`
  return html`<header><h2>${words.members}</h2></header>${list}<form class="pad stack s" method="post" action="${pathOf(call, '/invite')}">
${inputField({
  name: 'email',
  label: words.invite,
  type: 'email',
  value: field(form, 'email'),
  hint: words.inviteHint,
  placeholder: words.email,
  required: true,
  maxlength: 320,
})}
<div class="row"><button class="btn" type="submit">${words.invite}</button></div></form>`
}

function nameForm(call: UserCall, { name }: AccountFigures): Html {
  const { form, language } = call
  const words = accountsWords(language)
  return html`<header><h2>${words.rename}</h2></header><form class="pad stack s" method="post" action="${pathOf(call, '/rename')}">
${inputField({
  name: 'name',
  label: words.name,
  value: form.name === undefined ? name : field(form, 'name'),
  hint: words.renameHint,
  required: true,
  maxlength: 100,
})}
<div class="row"><button class="btn" type="submit">${words.rename}</button></div></form>`
}

function holdForm(call: UserCall, { rules, hasOwnRules }: AccountStanding): Html {
  const { config, form, language } = call
  const words = accountsWords(language)
  const byDefault = words.byDefault(words.ruleNames[config.reputationRules])
  return html`<header><h2>${words.hold}</h2></header><form class="pad stack s" method="post" action="${pathOf(call, '/hold')}"><p class="hint">
    ${words.holdText}</p>
${inputField({ name: 'reason', label: words.reason, value: field(form, 'reason'), hint: words.reasonHint, required: true })}
${selectField({
  name: 'class',
  label: words.class,
  value: field(form, 'class'),
  choices: [['', words.everyClass], ...DELIVERY_CLASSES.map((one) => [one, words.classOf(one)] as const)],
})}
<div class="row"><button class="btn" type="submit">${words.hold}</button></div></form>
<form class="pad stack s" method="post" action="${pathOf(call, '/rules')}">
${selectField({
  name: 'rules',
  label: words.rules,
  hint: words.rulesHint,
  value: hasOwnRules ? rules : 'default',
  choices: [['default', byDefault], ...REPUTATION_RULES.map((one) => [one, words.ruleNames[one]] as const)],
})}
<div class="row"><button class="btn" type="submit">${words.save}</button></div></form>`
}

/** Makes a change of the account of the path, and shows its page again. */
async function change(
  call: UserCall,
  said: string,
  act: (id: number, by: ReturnType<typeof operatorOf>) => Promise<unknown>,
): Promise<Answer> {
  const account = await accountOf(call)
  if (!account) return accountPage(call)
  const done = await attempt(() => act(account.id, operatorOf(call)))
  return done.ok ? redirect(pathOf(call), said) : accountPage(call, { problem: done.problem })
}

/** Shows the page of the account with the problem if what the form asks for is refused. */
async function ofAccount(
  call: UserCall,
  act: (call: UserCall, account: AccountFigures, refused: (problem: string) => Promise<Answer>) => Promise<Answer>,
): Promise<Answer> {
  const account = await accountOf(call)
  return account ? act(call, account, (problem) => accountPage(call, { problem })) : accountPage(call)
}

async function lookAt(call: UserCall): Promise<Answer> {
  const { address, core, visitor } = call
  const account = await accountOf(call)
  if (!account) return accountPage(call)
  const isMember = visitor.accounts.some(({ id, role }) => id === account.id && role !== 'observer')
  if (!isMember) await core.people.lookAs(visitor, account.id, address)
  return redirect(`/app/${account.id}`)
}

async function lookAway({ address, core, visitor }: UserCall): Promise<Answer> {
  const before = visitor.looksAt
  await core.people.lookAs(visitor, null, address)
  return redirect(before === null ? operatorPath('accounts') : operatorPath(`accounts/${before}`))
}

async function invite(call: UserCall): Promise<Answer> {
  const { core, form } = call
  const account = await accountOf(call)
  if (!account) return accountPage(call)
  const invitation = { email: field(form, 'email'), role: 'owner' }
  const made = await attempt(() => core.people.invitations.create(account.id, invitation, operatorOf(call)))
  if (!made.ok) return accountPage(call, { problem: made.problem })
  return made.value.url === undefined ? redirect(pathOf(call), 'invited') : accountPage(call, { link: made.value.url })
}
