import type { ApiKey } from '@postrider/core'
import { type Html, html } from '@postrider/ui'
import { type Answer, page, redirect } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { type AccountCall, field } from '../../frame/call.ts'
import { notFound } from '../../frame/error-pages.ts'
import { proved } from '../../frame/forms/proof.ts'
import { idIn } from '../../frame/operator.ts'
import { byApi, emptyBox, pageHead, problemNote } from '../../frame/parts.ts'
import { account, type DashboardRoute } from '../../frame/routes.ts'
import { keyForm, keyOf } from './key-form.ts'
import { keysTable } from './keys-table.ts'
import { keysWords } from './keys-words.ts'

export const KEYS: readonly DashboardRoute[] = [
  account('GET', '/keys', 'keys.read', (call) => keyList(call)),
  account('GET', '/keys/new', 'keys', async (call) => keyForm(call)),
  // A key outlives the session, and does what its role can do.
  account('POST', '/keys', 'keys', checkedKey),
  account('POST', '/keys/:id/rotate', 'keys', (call) => proved(call, rotateKey)),
  account('POST', '/keys/:id/revoke', 'keys', revokeKey),
  account('POST', '/keys/:id/restore', 'keys', restoreKey),
]

/** Keys on the page: the newest. An account seldom has more, and the API lists all of them. */
const PAGE = 200

/** A secret that was made just now, and is on this page only. */
interface Made {
  readonly key: ApiKey
  readonly secret: string
  readonly note?: string
}

async function keyList(call: AccountCall, made?: Made, problem?: string): Promise<Answer> {
  const { core, account: own, language, icon, path, query } = call
  const words = keysWords(language)
  const all = await core.auth.listKeys(own.id, { limit: PAGE, newestFirst: true })
  const withRevoked = field(query, 'revoked') === '1'
  const shown = all.filter(({ revokedAt }) => withRevoked || revokedAt === null)
  const make = call.may('keys') && html`<a class="btn main" href="${path('keys/new')}">${icon('plus')}${words.make}</a>`
  return page({
    title: words.title,
    status: problem === undefined ? 200 : 400,
    body: html`${pageHead(words.title, words.lead, made ? null : make)}${problemNote(call, problem)}${made && madeNote(call, made)}
${
  shown.length === 0
    ? emptyBox(call, 'key', words.none, words.noneText, make)
    : html`<section class="box">${keysTable(call, shown, made?.key.id)}<footer>${words.footer}</footer></section>`
}
${
  all.length > shown.length || all.length === PAGE || withRevoked
    ? html`<p><a href="${path('keys')}${withRevoked ? '' : '?revoked=1'}">
  ${withRevoked ? words.hideRevoked : words.showRevoked}</a></p>`
    : null
}
${byApi(call, { method: 'GET', path: '/v2/keys' }, { method: 'POST', path: '/v2/keys', body: { name: 'shop-backend', scopes: ['send'] } })}`,
  })
}

function madeNote({ icon, language, path }: AccountCall, { key, secret, note }: Made): Html {
  const words = keysWords(language)
  return html`<section class="note good">${icon('check', 'good')}<div class="stack s"><div><b>${words.made(key.name)}</b>${note && html`<p>${note}</p>`}</div>
<div class="secret"><code id="secret">${secret}</code><button class="btn main" type="button" data-copy-from="secret">${icon('copy')}${words.copy}</button></div>
<div class="row"><a href="${path('keys')}">${words.stored}</a></div></div></section>`
}

/** Says what core would refuse before the visitor has to give the password. */
async function checkedKey(call: AccountCall): Promise<Answer> {
  const { core, by } = call
  const checked = await attempt(() => core.auth.checkKey(keyOf(call), by))
  return checked.ok ? proved(call, createKey) : keyForm(call, checked)
}

async function createKey(call: AccountCall): Promise<Answer> {
  const made = await attempt(() => call.core.auth.createKey(keyOf(call), call.by))
  return made.ok ? keyList(call, made.value) : keyForm(call, made)
}

async function rotateKey(call: AccountCall): Promise<Answer> {
  const { core, account: own, params, by, language, format } = call
  const rotated = await attempt(() => core.auth.rotateKey(idIn(params.id) ?? 0, HOURS, { accountId: own.id, by }))
  if (!rotated.ok) return refusedKey(call, rotated)
  return keyList(call, { ...rotated.value, note: keysWords(language).rotated(format.number(HOURS)) })
}

/** How long the old key remains valid. */
const HOURS = 24

async function revokeKey(call: AccountCall): Promise<Answer> {
  const { core, account: own, params, by, path } = call
  const revoked = await attempt(() => core.auth.revokeKey(idIn(params.id) ?? 0, { accountId: own.id, by }))
  if (!revoked.ok) return refusedKey(call, revoked)
  return { ...redirect(path('keys'), 'revoked'), undo: { action: path(`keys/${params.id}/restore`), fields: {} } }
}

async function restoreKey(call: AccountCall): Promise<Answer> {
  const { core, account: own, params, by, path } = call
  const restored = await attempt(() => core.auth.restoreKey(idIn(params.id) ?? 0, { accountId: own.id, by }))
  return restored.ok ? redirect(path('keys'), 'keyRestored') : refusedKey(call, restored)
}

function refusedKey(call: AccountCall, { errorName, problem }: { errorName: string; problem: string }) {
  return errorName === 'keyUnknown' ? notFound(call) : keyList(call, undefined, problem)
}
