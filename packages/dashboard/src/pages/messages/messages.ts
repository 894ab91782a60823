import { type DeliveryState, type ListedDelivery, type MessageSearch, parseSearch } from '@postrider/core'
import { foreign, type Html, html, type Value } from '@postrider/ui'
import { type Answer, page } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { type AccountCall, field } from '../../frame/call.ts'
import { byApi, emptyBox, pageHead, problemNote } from '../../frame/parts.ts'
import { type ExportFilter, exportLink } from '../exports/export-link.ts'
import { deliveryState, shownState } from './delivery-state.ts'
import { messagesWords } from './messages-words.ts'

const PAGE = 50
const CURSOR = /^[0-9a-f]{32}\.\d{1,6}$/
/** The states that have a chip, as the search language names them. */
const CHIPS = [
  'delivered',
  'queued',
  'deferred',
  'bounced',
  'dropped',
  'scheduled',
] as const satisfies readonly DeliveryState[]

/** Deliveries, newest first, by the search language. */
export async function messageList(call: AccountCall): Promise<Answer> {
  const { core, account, language, query } = call
  const words = messagesWords(language)
  const text = field(query, 'q')
  const state = CHIPS.find((one) => one === field(query, 'state'))
  const after = CURSOR.test(field(query, 'after')) ? field(query, 'after') : undefined
  const found = await attempt(() => {
    const search = searchOf(text, state)
    return core.messages.list({ accountId: account.id, search, limit: PAGE, after }, call.reads)
  })
  const listed = found.ok ? found.value : undefined
  const isFiltered = text !== '' || state !== undefined
  const empty = isFiltered
    ? emptyBox(call, 'search', words.nothing, words.nothingText)
    : emptyBox(call, 'mail', words.none, words.noneText)
  return page({
    title: words.title,
    // An older page does not change.
    ...(after === undefined ? { live: 'events' } : {}),
    status: found.ok ? 200 : 400,
    body: html`${pageHead(words.title, null, exportLink(call, filterOf(call, text, state)))}${problemNote(call, found.ok ? undefined : found.problem)}
${searchForm(call, text, state)}
${
  listed &&
  (listed.deliveries.length > 0
    ? html`${
        after === undefined &&
        html`<div class="newer-at" role="status">
      <button class="chip newer" type="button" data-newer="${words.newer}" hidden></button></div>`
      }
      <section class="box"${after === undefined && html` data-newest`}>${table(call, listed.deliveries)}
      ${foot(call, { text, state, ...listed, isFirst: after === undefined })}</section>`
    : html`${empty}${listed.next && foot(call, { text, state, ...listed, isFirst: after === undefined })}`)
}
${byApi(call, { method: 'GET', path: `/v2/messages${queryOf(text, state)}` })}`,
  })
}

/** The kinds of events that say that a delivery is in a state. */
const KINDS_OF: Partial<Readonly<Record<DeliveryState, readonly string[]>>> = {
  delivered: ['sent'],
  deferred: ['deferred'],
  bounced: ['softbounce', 'hardbounce'],
  dropped: ['dropped'],
}

/** The days and states of a search, as the filter of an export. */
function filterOf({ format }: AccountCall, text: string, state: DeliveryState | undefined): ExportFilter {
  try {
    const { since, until, states } = searchOf(text, state)
    const events = (states ?? []).flatMap((one) => KINDS_OF[one] ?? [])
    return { from: since && format.dayKey(since), to: until && format.dayKey(until), events }
  } catch {
    // The page says what is wrong with the search.
    return {}
  }
}

/** The query of v2's listMessages. A chip has no effect if the search names states. */
function queryOf(text: string, state: DeliveryState | undefined): string {
  const fields = [
    ...(text === '' ? [] : [`search=${encodeURIComponent(text)}`]),
    ...(state === undefined || namesStates(text) ? [] : [`state=${state}`]),
  ]
  return fields.length === 0 ? '' : `?${fields.join('&')}`
}

function namesStates(text: string): boolean {
  try {
    return parseSearch(text).states !== undefined
  } catch {
    // The page says what is wrong with the search.
    return false
  }
}

/** Throws parameterInvalid (`search`). */
function searchOf(text: string, state: DeliveryState | undefined): MessageSearch {
  const search = parseSearch(text)
  return state === undefined || search.states ? search : { ...search, states: [state] }
}

function searchForm({ icon, language, path }: AccountCall, text: string, state: DeliveryState | undefined): Html {
  const words = messagesWords(language)
  const chip = (one: DeliveryState | undefined, label: string) => {
    const fields = new URLSearchParams({ ...(text === '' ? {} : { q: text }), ...(one ? { state: one } : {}) })
    return html`<a class="chip" href="${path('messages')}?${fields.toString()}"${one === state && html` aria-current="true"`}>${label}</a>`
  }
  const example = (term: string, what: string) => html`<dt><code>${term}</code></dt><dd>${what}</dd>`
  return html`<div class="stack s"><form class="row" role="search" action="${path('messages')}"><div class="find">${icon('search')}
    <label class="sr" for="q">${words.search}</label>
    <input class="in" id="q" name="q" type="search" value="${text}" placeholder="${words.placeholder}" autocomplete="off" spellcheck="false"
      maxlength="2000"><kbd class="wide-only">/</kbd></div>${
        state && html`<input type="hidden" name="state" value="${state}">`
      }<button class="btn" type="submit">${words.find}</button><button class="btn icon" type="button" popovertarget="how" aria-label="${words.how}">
  ${icon('info')}</button></form>
<nav class="pick" aria-label="${words.state}">${chip(undefined, words.all)}${CHIPS.map((one) => chip(one, words.states[one]))}</nav></div>
<div class="menu pad" id="how" popover><dl class="dl">${example('to:@harbor.example', words.help.to)}
  ${example('from:desk@ship.example', words.help.from)}${example('state:deferred', words.help.state)}
  ${example('subject:"Your order"*', words.help.subject)}${example('tag:orders', words.help.tag)}${example('after:2026-11-20', words.help.time)}
  ${example('has:attachment', words.help.has)}${example('id:019b8d6a…', words.help.id)}</dl></div>`
}

function table(call: AccountCall, deliveries: readonly ListedDelivery[]): Html {
  const { format, language, path } = call
  const words = messagesWords(language)
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.newestFirst}"><table class="hov fix msgs"><thead><tr><th class="cs">
    <span>${words.state}</span></th><th>${words.message}</th><th class="ct wide-only">${words.tag}</th><th class="cw wide-only">${words.outcome}</th>
    <th class="cd n">${words.accepted}</th></tr></thead><tbody>${deliveries.map(
      (one) =>
        html`<tr id="d-${one.messageId}-${one.recipientNo}"><td>${deliveryState(call, one)}</td><td><div class="cut">
        <a class="go" href="${path(`messages/${one.messageId}`)}">${subject(call, one.subject)}</a></div><small class="cut"><span class="narrow">
        ${shownState(call, one)[2]} · </span>${foreign(one.recipient)}</small></td><td class="wide-only">
        ${one.tags[0] !== undefined && html`<span class="badge cut">${foreign(one.tags[0])}</span>`}</td><td class="wide-only dim"><div class="cut">
        ${outcome(call, one)}</div></td><td class="n faint">${format.time(one.acceptedAt)}</td></tr>`,
    )}</tbody></table></div>`
}

export function subject({ language }: Pick<AccountCall, 'language'>, text: string): Html {
  return text.trim() === '' ? html`<span class="faint">${messagesWords(language).noSubject}</span>` : foreign(text)
}

/** How long it took, or the last word of the server and when it is tried next. */
function outcome(
  { format, language }: AccountCall,
  { state, acceptedAt, finishedAt, reply, nextAt, isPaused, reason, bounce }: ListedDelivery,
): Value {
  if (bounce !== null) return foreign(bounce)
  if (state === 'delivered' && finishedAt) return format.duration(finishedAt.getTime() - acceptedAt.getTime())
  const words = messagesWords(language)
  const isPlanned = nextAt !== null && (isPaused || state !== 'queued')
  const next = isPlanned ? (isPaused ? words.pausedUntil : words.nextAt)(format.plainTime(nextAt)) : ''
  const reasons: Readonly<Record<string, string>> = words.reasons
  const said = reply ?? (reason === null ? '' : (reasons[reason] ?? reason))
  return [said !== '' && foreign(said), said !== '' && next !== '' && '; ', next]
}

interface Foot {
  readonly text: string
  readonly state: DeliveryState | undefined
  readonly next: string | null
  readonly partial: boolean
  readonly searchedTo: Date | null
  readonly isFirst: boolean
}

function foot(
  { format, icon, language, path }: AccountCall,
  { text, state, next, partial, searchedTo, isFirst }: Foot,
): Value {
  if (next === null && isFirst) return null
  const words = messagesWords(language)
  const link = (after: string | null) => {
    const fields = new URLSearchParams({
      ...(text === '' ? {} : { q: text }),
      ...(state ? { state } : {}),
      ...(after ? { after } : {}),
    })
    return `${path('messages')}?${fields.toString()}`
  }
  return html`<footer class="more"><span>${partial && searchedTo && words.partly(format.plainTime(searchedTo))}</span><span class="acts">${
    !isFirst && html`<a class="btn s" href="${link(null)}">${icon('up')}${words.newest}</a>`
  }${next && html`<a class="btn s" href="${link(next)}">${words.older}${icon('right')}</a>`}</span></footer>`
}
