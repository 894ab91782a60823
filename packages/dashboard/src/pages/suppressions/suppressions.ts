import { Readable } from 'node:stream'
import {
  ACCOUNT_REASONS,
  invalidParameter,
  SUPPRESSION_REASONS,
  type Suppression,
  type SuppressionReason,
  suppressionCsv,
} from '@postrider/core'
import { foreign, type Html, html, textField, type Value } from '@postrider/ui'
import { type Answer, file, page, redirect } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { type AccountCall, field } from '../../frame/call.ts'
import { idIn } from '../../frame/operator.ts'
import { offsetOf, pager } from '../../frame/pager.ts'
import { ask, byApi, emptyBox, pageHead, problemNote } from '../../frame/parts.ts'
import { account, type DashboardRoute } from '../../frame/routes.ts'
import { frameWords } from '../../frame/words/frame-words.ts'
import { exportLink } from '../exports/export-link.ts'
import { privacyWords } from '../privacy/privacy-words.ts'
import { suppressionsWords } from './suppressions-words.ts'

export const SUPPRESSIONS: readonly DashboardRoute[] = [
  account('GET', '/suppressions', 'suppressions.read', (call) => suppressionList(call)),
  account('GET', '/suppressions/new', 'suppressions', async (call) => suppressionForm(call)),
  account('POST', '/suppressions', 'suppressions', addSuppressions),
  account('POST', '/suppressions/remove', 'suppressions', removeSuppression),
  account('POST', '/suppressions/restore', 'suppressions', restoreSuppression),
  account('GET', '/suppressions.csv', 'suppressions.read', async ({ core, account: own }) =>
    file({
      type: 'text/csv; charset=utf-8',
      body: Readable.from(suppressionCsv(core.suppressions.pages(own.id)), { objectMode: false }),
      headers: { 'content-disposition': 'attachment; filename="suppressions.csv"' },
    }),
  ),
]

const PAGE = 50

async function suppressionList(call: AccountCall, problem?: string): Promise<Answer> {
  const { core, account: own, icon, language, path, query } = call
  const words = suppressionsWords(language)
  const search = field(query, 'q')
  const reason = SUPPRESSION_REASONS.find((one) => one === field(query, 'reason'))
  const offset = offsetOf(query, PAGE)
  const filter = { ...named(search), ...(reason ? { reason } : {}), limit: PAGE, offset }
  const listed = await attempt(() => core.suppressions.list(own.id, filter))
  const { suppressions, total } = listed.ok ? listed.value : { suppressions: [], total: 0 }
  const add =
    call.may('suppressions') &&
    html`<a class="btn main" href="${path('suppressions/new')}">${icon('plus')}${words.add}</a>`
  const isFiltered = search !== '' || reason !== undefined
  return page({
    title: words.title,
    live: 'events',
    status: problem === undefined ? 200 : 400,
    body: html`${pageHead(
      words.title,
      words.lead,
      html`<a class="btn" href="${path('suppressions.csv')}">${icon('download')}${words.export}</a>
      ${exportLink(call, { events: ['hardbounce', 'spam', 'unsubscribed'] })}${add}`,
    )}
${problemNote(call, problem ?? (listed.ok ? undefined : listed.problem))}
${searchForm(call, search, reason)}
${
  suppressions.length > 0
    ? html`<section class="box">${table(call, suppressions)}
      ${pager(call, { at: 'suppressions', offset, limit: PAGE, total, query: { q: search, reason: reason ?? '' } })}</section>`
    : isFiltered
      ? emptyBox(call, 'search', words.nothing, words.nothingText)
      : emptyBox(call, 'ban', words.none, words.noneText, add)
}
${call.may('privacy') && html`<p><a href="${path('privacy')}">${privacyWords(language).title}</a></p>`}
${byApi(call, { method: 'GET', path: '/v2/suppression' }, { method: 'POST', path: '/v2/suppression', body: { email: 'x@harbor.example' } })}`,
  })
}

/** The address or the domain of a search. */
function named(text: string): { emails?: string[]; domains?: string[] } {
  if (text === '') return {}
  return text.includes('@') && !text.startsWith('@') ? { emails: [text] } : { domains: [text.replace(/^@/, '')] }
}

function searchForm(
  { icon, language, path }: AccountCall,
  search: string,
  reason: SuppressionReason | undefined,
): Html {
  const words = suppressionsWords(language)
  const chip = (value: string, label: string) => {
    const fields = new URLSearchParams({
      ...(search === '' ? {} : { q: search }),
      ...(value === '' ? {} : { reason: value }),
    })
    return html`<a class="chip" href="${path('suppressions')}?${fields.toString()}"${(reason ?? '') === value && html` aria-current="true"`}>${label}</a>`
  }
  return html`<div class="stack s"><form class="row" role="search" action="${path('suppressions')}"><div class="find">${icon('search')}
    <label class="sr" for="q">${words.search}</label>
    <input class="in" id="q" name="q" type="search" value="${search}" placeholder="${words.search}" autocomplete="off" spellcheck="false" maxlength="320">
    <kbd class="wide-only">/</kbd></div><button class="btn" type="submit">${words.find}</button></form>
<nav class="pick" aria-label="${words.reason}">${chip('', words.all)}
  ${SUPPRESSION_REASONS.filter((one) => one !== 'global').map((one) => chip(one, words.reasons[one]))}</nav></div>`
}

function table(call: AccountCall, suppressions: readonly Suppression[]): Html {
  const { format, language } = call
  const words = suppressionsWords(language)
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.title}"><table><thead><tr><th>${words.value}</th>
    <th class="wide-only">${words.reason}</th><th class="wide-only">${words.cause}</th><th class="n wide-only">${words.since}</th><th><span class="sr">
    ${words.remove}</span></th></tr></thead><tbody>${suppressions.map(
      (one, at) =>
        html`<tr><td><span class="any">${foreign(one.value)}</span>${one.scope === 'domain' && html` <span class="badge">${words.wholeDomain}</span>`}
        ${one.scope === 'group' && html` <span class="badge">${words.group(one.group)}</span>`}<small class="narrow">${words.reasons[one.reason]}
        </small></td><td class="wide-only">${words.reasons[one.reason]}</td><td class="wide-only dim">${cause(call, one)}</td>
        <td class="n wide-only faint">${format.time(one.since)}</td><td class="n">${call.may('suppressions') && removal(call, one, at)}</td></tr>`,
    )}</tbody></table></div>`
}

function cause({ language, may, path }: AccountCall, { cause: made }: Suppression): Value {
  if (!made) return null
  const words = suppressionsWords(language)
  const rule = words.rules[made.rule]
  return may('events') ? html`${rule}: <a href="${path(`messages/${made.messageId}`)}">${words.message}</a>` : rule
}

function removal({ language, path }: AccountCall, { scope, value, group, reason }: Suppression, at: number): Html {
  const words = suppressionsWords(language)
  return ask({
    language,
    id: `remove-${at}`,
    button: words.remove,
    title: words.removeTitle(value),
    text: words.removeText,
    action: path('suppressions/remove'),
    fields: html`<input type="hidden" name="scope" value="${scope}"><input type="hidden" name="value" value="${value}">
      <input type="hidden" name="group" value="${group}"><input type="hidden" name="reason" value="${reason}">`,
  })
}

function suppressionForm(call: AccountCall, problem?: string): Answer {
  const { form, language, path, query } = call
  const words = suppressionsWords(language)
  return page({
    title: words.addTitle,
    status: problem === undefined ? 200 : 400,
    crumbs: [[words.title, path('suppressions')]],
    body: html`${pageHead(words.addTitle, null)}${problemNote(call, problem)}<section class="box">
      <form class="pad stack" method="post" action="${path('suppressions')}">
${textField({
  name: 'entries',
  label: words.entries,
  value: field(form, 'entries') || field(query, 'value'),
  hint: words.entriesHint,
  required: true,
  autofocus: true,
  rows: 6,
  placeholder: 'x@harbor.example',
})}
<div class="row"><button class="btn main" type="submit">${words.addButton}</button><a class="btn" href="${path('suppressions')}">
  ${frameWords(language).cancel}</a></div></form></section>`,
  })
}

/** Entries of one form; a longer list is imported by the API. */
const MAX_ENTRIES = 10_000

async function addSuppressions(call: AccountCall): Promise<Answer> {
  const { core, account: own, form, by, path } = call
  const entries = field(form, 'entries')
    .split(/[\s,;]+/, MAX_ENTRIES + 1)
    .filter((text) => text !== '')
  if (entries.length > MAX_ENTRIES) return suppressionForm(call, suppressionsWords(call.language).tooMany(MAX_ENTRIES))
  const emails = entries.filter((text) => named(text).emails)
  const domains = entries.flatMap((text) => named(text).domains ?? [])
  const added = await attempt(() => core.suppressions.addAll({ accountId: own.id, emails, domains, by }))
  return added.ok ? redirect(path('suppressions'), 'added') : suppressionForm(call, added.problem)
}

/** The entry that a form names. Throws parameterInvalid (group): without its number, the entry of the whole address would be meant. */
function entryIn({ form }: AccountCall) {
  const [scope, value, group] = [field(form, 'scope'), field(form, 'value'), idIn(field(form, 'group')) ?? 0]
  if (scope === 'group' && group === 0) throw invalidParameter('group', 'must be the number of a group')
  const reason = ACCOUNT_REASONS.find((one) => one === field(form, 'reason'))
  return {
    change: {
      ...(scope === 'domain' ? { domains: [value] } : { emails: [value] }),
      ...(scope === 'group' ? { group } : {}),
    },
    fields: { scope, value, group: String(group), ...(reason ? { reason } : {}) },
    reason,
  }
}

async function removeSuppression(call: AccountCall): Promise<Answer> {
  const { core, account: own, by, path } = call
  const { change, fields } = entryIn(call)
  const removed = await attempt(() => core.suppressions.removeAll({ accountId: own.id, ...change, by }))
  if (!removed.ok) return suppressionList(call, removed.problem)
  const undo = { action: path('suppressions/restore'), fields }
  return { ...redirect(path('suppressions'), 'removed'), ...(removed.value > 0 ? { undo } : {}) }
}

/** Adds an entry that was just removed again, with its reason. */
async function restoreSuppression(call: AccountCall): Promise<Answer> {
  const { core, account: own, by, path } = call
  const { change, reason = 'manual' } = entryIn(call)
  const added = await attempt(() => core.suppressions.addAll({ accountId: own.id, ...change, reason, by }))
  return added.ok ? redirect(path('suppressions'), 'restored') : suppressionList(call, added.problem)
}
