import type { AccountOfUser } from '@postrider/core'
import { html } from '@postrider/ui'
import { type Answer, page, redirect, session } from '../../frame/answer.ts'
import type { UserCall } from '../../frame/call.ts'
import { lastAccount } from '../../frame/preferences.ts'
import { type DashboardRoute, everybody, users } from '../../frame/routes.ts'
import { mayIn } from '../../frame/visitor.ts'
import { enterCode, usePasskey } from './code.ts'
import { firstForm, useFirstLink } from './first.ts'
import { logIn, logInForm } from './log-in.ts'
import { messageById } from './message-by-id.ts'
import { beginOidc, finishOidc } from './oidc.ts'
import { beginPasskey, logInByPasskey } from './passkey.ts'
import { choosePreferences } from './preferences.ts'
import { startWords } from './start-words.ts'

/** Log-in, log-out, the first owner, and the way from /app to an account. */
export const START: readonly DashboardRoute[] = [
  users('GET', '/', home),
  users('GET', '/accounts', accountList),
  users('GET', '/messages/:id', messageById),
  everybody('GET', '/login', async (call) => logInForm(call)),
  everybody('POST', '/login', logIn),
  everybody('POST', '/login/code', enterCode),
  everybody('POST', '/login/code/passkey', usePasskey),
  everybody('GET', '/login/passkey', beginPasskey),
  everybody('POST', '/login/passkey', logInByPasskey),
  everybody('GET', '/oidc/begin', beginOidc),
  everybody('GET', '/oidc', finishOidc),
  // Without these, the paths would be those of accounts.
  everybody('GET', '/logout', async () => redirect('/app')),
  everybody('GET', '/preferences', async () => redirect('/app')),
  users('POST', '/logout', logOut),
  everybody('GET', '/first', firstForm),
  everybody('POST', '/first', useFirstLink),
  everybody('POST', '/preferences', choosePreferences),
]

async function home({ core, request, visitor }: UserCall): Promise<Answer> {
  const first = lastAccount(request, visitor.accounts) ?? visitor.accounts[0]
  if (first) return redirect((await isNew(core, first)) ? `/app/${first.id}/first-steps` : `/app/${first.id}`)
  return redirect('/app/accounts')
}

/** Whether an account has no mail yet, so that its visitor needs the first steps. */
async function isNew(core: UserCall['core'], account: AccountOfUser): Promise<boolean> {
  if (!mayIn(account, 'events')) return false
  const { deliveries } = await core.messages.list({ accountId: account.id, search: {}, limit: 1 })
  return deliveries.length === 0
}

async function accountList({ visitor, language }: UserCall): Promise<Answer> {
  const words = startWords(language)
  const list = html`<ul class="list">${visitor.accounts.map(
    ({ id, name }) => html`<li><div><a class="go" href="/app/${id}">${name}</a></div></li>`,
  )}</ul>`
  const closed = visitor.closedAccounts.join(', ')
  const none = html`<div class="void"><h2>${words.noAccounts}</h2><p>${words.noAccountsText}</p></div>`
  return page({
    title: words.accounts,
    body: html`<header class="head"><div><h1>${words.accounts}</h1><p class="lead">${words.accountsLead}</p></div></header>
${closed !== '' && html`<div class="note wait"><p>${words.closed(closed)}</p></div>`}
${(closed === '' || visitor.accounts.length > 0) && html`<section class="box">${visitor.accounts.length > 0 ? list : none}</section>`}`,
  })
}

async function logOut({ core, visitor }: UserCall): Promise<Answer> {
  await core.people.sessions.end(visitor.user.id, visitor.sessionId)
  return session(null, '/app/login')
}
