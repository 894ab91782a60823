import type { AuditEntry, AuditValues } from '@postrider/core'
import { foreign, type Html, html, type Value } from '@postrider/ui'
import { type Answer, page } from '../../frame/answer.ts'
import { type AccountCall, field } from '../../frame/call.ts'
import { byApi, emptyBox, pageHead } from '../../frame/parts.ts'
import { account, type DashboardRoute } from '../../frame/routes.ts'
import { frameWords } from '../../frame/words/frame-words.ts'
import { auditWords } from './audit-words.ts'
import { authorOf, changeSentence } from './change-sentence.ts'
import { changeWords } from './change-words.ts'

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
  const user = /^\d{1,9}$/.exec(field(query, 'user'))?.[0]
  const filter = {
    before: before === undefined ? undefined : Number(before),
    action: kind && `${kind}.`,
    userId: user === undefined ? undefined : Number(user),
  }
  const [entries, [last]] = await Promise.all([
    core.audit.latest(own.id, { ...filter, limit: PAGE + 1 }),
    core.audit.latest(own.id, { limit: 1 }),
  ])
  const shown = entries.slice(0, PAGE)
  const older = entries.length > PAGE ? shown.at(-1) : undefined
  const verify = html`<a class="btn" href="${path('audit')}?verify=1">${icon('check')}${words.verify}</a>`
  const list = html`<section class="box">${table(call, shown)}${foot(call, { kind, user }, older?.number, before !== undefined)}</section>`
  return page({
    title: words.title,
    body: html`${pageHead(words.title, words.lead, last && verify)}${last && (await verification(call, last.number))}${last && kindChips(call, kind, user)}
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

function kindChips({ language, path }: AccountCall, kind: Kind | undefined, user: string | undefined): Html {
  const words = auditWords(language)
  const chip = (value: Kind | undefined, label: string) =>
    html`<a class="chip" href="${path('audit')}${queryOf({ kind: value, user })}"${value === kind && html` aria-current="true"`}>${label}</a>`
  const everyone =
    user && html`<a class="chip" href="${path('audit')}${queryOf({ kind })}">× ${changeWords(language).byAll}</a>`
  return html`<nav class="pick" aria-label="${words.filter}">${chip(undefined, words.all)}${KINDS.map((one) => chip(one, words.kinds[one]))}${everyone}</nav>`
}

/** A query of the given values. */
function queryOf(given: Readonly<Record<string, string | undefined>>): string {
  const set = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return set.length > 0 ? `?${new URLSearchParams(set)}` : ''
}

function table(call: AccountCall, entries: readonly AuditEntry[]): Html {
  const { format, language } = call
  const words = auditWords(language)
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.title}"><table><thead><tr><th>${words.what}</th><th class="wide-only">
    ${words.who}</th><th class="n">${words.when}</th></tr></thead><tbody>${entries.map(
      (entry) =>
        html`<tr><td>${changeSentence(call, entry)}${raw(call, entry)}</td><td class="wide-only">${author(call, entry)}</td><td class="n faint">
        ${format.time(entry.at)}</td></tr>`,
    )}</tbody></table></div>`
}

/** The entry as the log has it. */
function raw({ format, language }: AccountCall, entry: AuditEntry): Html {
  return html`<details><summary class="q">${changeWords(language).raw}</summary><small class="any">${format.number(entry.number)}:${' '}
    <code>${breakable(entry.action)}</code> ${foreign(entry.object)}</small>${values(entry)}</details>`
}

/** The name of a change, which is too long for a phone: a line of it ends after a dot, and never within a word. */
function breakable(action: string): Value {
  return action.split('.').map((part, at) => html`${at > 0 && html`.<wbr>`}${part}`)
}

/** The author, by whom the log can be filtered if it is a user, and the address. */
function author(call: AccountCall, entry: AuditEntry): Value {
  const { language, path } = call
  const name = authorOf(call, entry)
  const link =
    entry.userId === null
      ? foreign(name)
      : html`<a href="${path('audit')}?user=${entry.userId}" title="${changeWords(language).byThis(name)}">${foreign(name)}</a>`
  return html`<span class="any">${link}</span><small class="mono any">${entry.address}</small>`
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
  filter: Readonly<Record<'kind' | 'user', string | undefined>>,
  before: number | undefined,
  isLater: boolean,
): Value {
  if (before === undefined && !isLater) return null
  const words = frameWords(language)
  const newest = queryOf(filter)
  const older = before !== undefined && queryOf({ ...filter, before: String(before) })
  return html`<footer class="more"><span>${isLater && html`<a class="btn s" href="${path('audit')}${newest}">${icon('left')}${words.newest}</a>`}
    </span><span class="acts">${older && html`<a class="btn s" href="${path('audit')}${older}">${words.older}${icon('right')}</a>`}</span></footer>`
}
