import { type DeliveryState, type ListedDelivery, type MessageSearch, parseSearch } from '@postrider/core'
import { foreign, type Html, html, type Value } from '@postrider/ui'
import { type Answer, page } from '../../frame/answer.ts'
import { attempt } from '../../frame/attempt.ts'
import { type AccountCall, field } from '../../frame/call.ts'
import { byApi, emptyBox, pageHead, problemNote } from '../../frame/parts.ts'
import { type ExportFilter, exportLink } from '../exports/export-link.ts'
import { deliveryState, shownState } from './delivery-state.ts'
import { messagesWords } from './messages-words.ts'
import { CHIPS, lookedAt, nothingText, problemOf, searchForm } from './search-form.ts'
import { searchWords } from './search-words.ts'

const PAGE = 50
const CURSOR = /^[0-9a-f]{32}\.\d{1,6}$/
/** Deliveries, newest first, by the search language. */
export async function messageList(call: AccountCall): Promise<Answer> {
  const { core, account, language, query } = call
  const words = messagesWords(language)
  const text = field(query, 'q')
  const state = CHIPS.find((one) => one === field(query, 'state'))
  const after = CURSOR.test(field(query, 'after')) ? field(query, 'after') : undefined
  const found = await attempt(async () => {
    const search = searchOf(call, text, state)
    return core.messages.list({ accountId: account.id, search, limit: PAGE, after }, call.reads)
  })
  const listed = found.ok ? found.value : undefined
  const isFiltered = text !== '' || state !== undefined
  const empty = isFiltered
    ? emptyBox(call, 'search', words.nothing, nothingText(call, listed))
    : emptyBox(call, 'mail', words.none, words.noneText)
  const looked = isFiltered && listed ? lookedAt(call, text, listed) : null
  return page({
    title: words.title,
    // An older page does not change.
    ...(after === undefined ? { live: 'events' } : {}),
    scripts: ['suggest.js'],
    status: found.ok ? 200 : 400,
    body: html`${pageHead(words.title, null, exportLink(call, filterOf(call, text, state)))}${problemNote(call, found.ok ? undefined : problemOf(call, found))}
${searchForm(call, text, state)}${looked}
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
${byApi(call, { method: 'GET', path: `/v2/messages${queryOf(call, text, state)}` })}`,
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
function filterOf(call: AccountCall, text: string, state: DeliveryState | undefined): ExportFilter {
  const { format } = call
  try {
    const { since, until, states } = searchOf(call, text, state)
    const events = (states ?? []).flatMap((one) => KINDS_OF[one] ?? [])
    return { from: since && format.dayKey(since), to: until && format.dayKey(until), events }
  } catch {
    // The page says what is wrong with the search.
    return {}
  }
}

/** The query of v2's listMessages. A chip has no effect if the search names states. */
function queryOf(call: AccountCall, text: string, state: DeliveryState | undefined): string {
  const fields = [
    ...(text === '' ? [] : [`search=${encodeURIComponent(text)}`]),
    ...(state === undefined || namesStates(call, text) ? [] : [`state=${state}`]),
  ]
  return fields.length === 0 ? '' : `?${fields.join('&')}`
}

function namesStates(call: AccountCall, text: string): boolean {
  try {
    return searchOf(call, text, undefined).states !== undefined
  } catch {
    // The page says what is wrong with the search.
    return false
  }
}

/** Days are those of the account. Throws SearchError. */
function searchOf({ now, format }: AccountCall, text: string, state: DeliveryState | undefined): MessageSearch {
  const search = parseSearch(text, { now, timeZone: format.dayZone })
  return state === undefined || search.states ? search : { ...search, states: [state] }
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
  return html`<footer class="more"><span>${partial && searchedTo && searchWords(language).partly(format.plainTime(searchedTo))}</span><span class="acts">${
    !isFirst && html`<a class="btn s" href="${link(null)}">${icon('up')}${words.newest}</a>`
  }${next && html`<a class="btn s" href="${link(next)}">${words.older}${icon('right')}</a>`}</span></footer>`
}
