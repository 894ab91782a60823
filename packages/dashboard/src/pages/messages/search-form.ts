import { type DeliveryPage, type DeliveryState, SearchError, type ServiceError } from '@postrider/core'
import { type Html, html, type Value } from '@postrider/ui'
import type { AccountCall } from '../../frame/call.ts'
import { messagesWords } from './messages-words.ts'
import { searchWords } from './search-words.ts'

/** The states that have a chip, as the search language names them. */
export const CHIPS = [
  'delivered',
  'queued',
  'deferred',
  'bounced',
  'dropped',
  'scheduled',
] as const satisfies readonly DeliveryState[]

/** The field with its suggestions (suggest.js), the states to choose from, and the help. */
export function searchForm(
  { icon, language, path }: AccountCall,
  text: string,
  state: DeliveryState | undefined,
): Html {
  const words = messagesWords(language)
  const { placeholder, suggestions, help } = searchWords(language)
  const chip = (one: DeliveryState | undefined, label: string) => {
    const fields = new URLSearchParams({ ...(text === '' ? {} : { q: text }), ...(one ? { state: one } : {}) })
    return html`<a class="chip" href="${path('messages')}?${fields.toString()}"${one === state && html` aria-current="true"`}>${label}</a>`
  }
  const example = (term: string, what: string) => html`<dt><code>${term}</code></dt><dd>${what}</dd>`
  return html`<div class="stack s"><form class="row" role="search" action="${path('messages')}"><div class="find">${icon('search')}
    <label class="sr" for="q">${words.search}</label>
    <input class="in" id="q" name="q" type="search" value="${text}" placeholder="${placeholder}" autocomplete="off" spellcheck="false"
      maxlength="2000" data-suggests="${path('messages/suggestions')}" data-list="${suggestions}"><kbd class="wide-only">/</kbd></div>${
        state && html`<input type="hidden" name="state" value="${state}">`
      }<button class="btn" type="submit">${words.find}</button><button class="btn icon" type="button" popovertarget="how" aria-label="${words.how}">
  ${icon('info')}</button></form>
<nav class="pick" aria-label="${words.state}">${chip(undefined, words.all)}${CHIPS.map((one) => chip(one, words.states[one]))}</nav></div>
<div class="menu pad" id="how" popover><dl class="dl">${example('invoice lena', help.words)}${example('"order 1007"', help.quoted)}
  ${example('-reminder', help.excluded)}${example('to:@harbor.example', help.to)}${example('from:desk@ship.example', help.from)}
  ${example('state:deferred', help.state)}${example('subject:invoice', help.subject)}${example('tag:orders', help.tag)}${example('ref:1007', help.ref)}
  ${example('after:2d', help.time)}${example('has:attachment', help.has)}${example('id:019b8d6a…', help.id)}</dl></div>`
}

/** A sentence on what was searched, and how far back. */
export function lookedAt(call: AccountCall, text: string, { searchedFrom }: DeliveryPage): Value {
  const { looked, since } = searchWords(call.language)
  if (text === '' || searchedFrom === null) return null
  return html`<p class="faint" id="looked">${looked} ${since(call.format.plainTime(searchedFrom))}.</p>`
}

export function nothingText(call: AccountCall, listed: DeliveryPage | undefined): string {
  const from = listed?.searchedFrom
  return from
    ? searchWords(call.language).nothingText(call.format.plainTime(from))
    : messagesWords(call.language).nothing
}

/** Says what is wrong with a search, in the language of the page, and names the part that is wrong. */
export function problemOf(
  { language }: AccountCall,
  refused: { readonly problem: string; readonly error?: ServiceError },
): string {
  if (!(refused.error instanceof SearchError)) return refused.problem
  const { name, part, allowed } = refused.error.problem
  const said = searchWords(language).problems[name](allowed)
  if (part === '') return said
  return /^[\p{Lu}]/u.test(said) ? `${part} – ${said}` : `${part} ${said}`
}
