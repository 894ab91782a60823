import type { AuditEntry, AuditValues } from '@postrider/core'
import { foreign, type Html, html, type Value } from '@postrider/ui'
import { type Answer, page } from '../../frame/answer.ts'
import { type AccountCall, field } from '../../frame/call.ts'
import { byApi, emptyBox, pageHead } from '../../frame/parts.ts'
import { account, type DashboardRoute } from '../../frame/routes.ts'
import { frameWords } from '../../frame/words/frame-words.ts'
import { auditWords } from './audit-words.ts'

export const AUDIT: readonly DashboardRoute[] = [account('GET', '/audit', 'audit', auditLog)]

const PAGE = 50
/** Entries that are verified with each look at the page: 20 ms. A longer log is verified on request. */
const VERIFIED_AT_ONCE = 2000
const KINDS = [
  'account',
  'key',
  'domain',
  'template',
  'webhook',
  'suppression',
  'member',
  'invitation',
  'message',
  'operator',
] as const
type Kind = (typeof KINDS)[number]

async function auditLog(call: AccountCall): Promise<Answer> {
  const { core, account: own, icon, language, path, query } = call
  const words = auditWords(language)
  const before = /^\d{1,15}$/.exec(field(query, 'before'))?.[0]
  const kind = KINDS.find((one) => one === field(query, 'kind'))
  const filter = { before: before === undefined ? undefined : Number(before), action: kind && `${kind}.` }
  const [entries, [last]] = await Promise.all([
    core.audit.latest(own.id, { ...filter, limit: PAGE + 1 }),
    core.audit.latest(own.id, { limit: 1 }),
  ])
  const shown = entries.slice(0, PAGE)
  const older = entries.length > PAGE ? shown.at(-1) : undefined
  const verify = html`<a class="btn" href="${path('audit')}?verify=1">${icon('check')}${words.verify}</a>`
  const list = html`<section class="box">${table(call, shown)}${foot(call, kind, older?.number, before !== undefined)}</section>`
  return page({
    title: words.title,
    body: html`${pageHead(words.title, words.lead, last && verify)}${last && (await verification(call, last.number))}${last && kindChips(call, kind)}
${
  shown.length > 0
    ? list
    : last
      ? emptyBox(call, 'search', words.nothing, words.nothingText)
      : emptyBox(call, 'book', words.none, words.noneText)
}
${byApi(call, { method: 'GET', path: '/v2/audit' })}`,
  })
}

async function verification(call: AccountCall, last: number): Promise<Value> {
  const { core, account: own, format, icon, language, query } = call
  const words = auditWords(language)
  if (last > VERIFIED_AT_ONCE && field(query, 'verify') !== '1') return null
  const broken = await core.audit.firstBroken(own.id)
  if (broken === null) {
    return html`<p class="row tight good">${icon('check', 'good')}<span>${words.verified(format.number(last))}</span></p>`
  }
  return html`<div class="note bad" role="alert">${icon('warn', 'bad')}<div><b>${words.broken(format.number(broken))}</b><p>${words.brokenText}</p></div></div>`
}

function kindChips({ language, path }: AccountCall, kind: Kind | undefined): Html {
  const words = auditWords(language)
  const chip = (value: Kind | undefined, label: string) =>
    html`<a class="chip" href="${path('audit')}${value ? `?kind=${value}` : ''}"${value === kind && html` aria-current="true"`}>${label}</a>`
  return html`<nav class="pick" aria-label="${words.filter}">${chip(undefined, words.all)}${KINDS.map((one) => chip(one, words.kinds[one]))}</nav>`
}

function table(call: AccountCall, entries: readonly AuditEntry[]): Html {
  const { format, language } = call
  const words = auditWords(language)
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.title}"><table><thead><tr><th class="n wide-only">${words.number}
    </th><th>${words.what}</th><th class="wide-only">${words.values}</th><th>${words.who}</th><th class="n">${words.when}</th></tr></thead><tbody>${entries.map(
      (entry) =>
        html`<tr><td class="n wide-only faint">${format.number(entry.number)}</td><td><b>${breakable(entry.action)}</b><small class="any">
        ${foreign(entry.object)}</small></td><td class="wide-only">${values(entry)}</td><td>${author(call, entry)}<small class="mono any">
        ${entry.address}</small></td><td class="n faint">${format.time(entry.at)}</td></tr>`,
    )}</tbody></table></div>`
}

/** The name of a change, which is too long for a phone: a line of it ends after a dot, and never within a word. */
function breakable(action: string): Value {
  return action.split('.').map((part, at) => html`${at > 0 && html`.<wbr>`}${part}`)
}

function author({ language }: AccountCall, { keyId, userId, userName }: AuditEntry): Value {
  const words = auditWords(language)
  if (userId !== null)
    return userName === null ? words.user(userId) : html`<span class="any">${foreign(userName)}</span>`
  return keyId === null ? words.operator : words.key(keyId)
}

/** Values shown of an entry; the API has them all. */
const MAX_VALUES = 12
const MAX_TEXT = 200

function values({ before, after }: AuditEntry): Value {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].slice(0, MAX_VALUES)
  return names.map((name) => {
    const [was, is] = [textOf(before, name), textOf(after, name)]
    return html`<small class="any">${foreign(name)}: ${was !== undefined && html`<del>${foreign(was)}</del> `}${is !== undefined && foreign(is)}</small>`
  })
}

function textOf(values: AuditValues | null, name: string): string | undefined {
  if (!values || !Object.hasOwn(values, name)) return undefined
  const value = values[name]
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, MAX_TEXT)
}

function foot(
  { icon, language, path }: AccountCall,
  kind: Kind | undefined,
  before: number | undefined,
  isLater: boolean,
): Value {
  if (before === undefined && !isLater) return null
  const words = frameWords(language)
  const filter = kind ? { kind } : {}
  const newest = new URLSearchParams(filter).toString()
  const older = before !== undefined && new URLSearchParams({ ...filter, before: String(before) }).toString()
  return html`<footer class="more"><span>${isLater && html`<a class="btn s" href="${path('audit')}?${newest}">${icon('left')}${words.newest}</a>`}
    </span><span class="acts">${older && html`<a class="btn s" href="${path('audit')}?${older}">${words.older}${icon('right')}</a>`}</span></footer>`
}
