import {
  type Assets,
  createFormat,
  createIcons,
  foreign,
  type Html,
  html,
  type Language,
  type Value,
} from '@postrider/ui'
import type { InboxEntry } from '../inbox-entry.ts'
import type { Digest } from '../reading/digest.ts'
import { pageWords } from './page-words.ts'

export interface ListedMessage {
  readonly entry: InboxEntry
  readonly digest: Digest | undefined
}

export interface ListPart {
  readonly assets: Assets
  readonly language: Language
  readonly now: Date
  readonly messages: readonly ListedMessage[]
  /** Number of messages that match the search. */
  readonly total: number
  /** Number of matching messages before the first of the page. */
  readonly before: number
  readonly q: string
  /** Whether messages are still being read, which the search may find. */
  readonly isReading: boolean
  readonly selected: string | undefined
  /** Query of the page with its question mark; empty for the first one without a search. */
  readonly query: string
  /** Query of the next page; undefined if this is the last one. */
  readonly older: string | undefined
}

const MAX_TITLE = 300

/** The list of messages, which follows what arrives. */
export function listPart(part: ListPart): Html {
  const { assets, language, messages, q, isReading } = part
  const words = pageWords(language)
  const icon = createIcons(assets)
  return html`<section id="page" aria-label="${words.messages}" tabindex="0"><div class="pad row tight finder">
    <form class="find" role="search" action="/">${icon('search')}<label class="sr" for="q">${words.search}</label>
    <input class="in" id="q" type="search" placeholder="${words.search}" name="q" value="${q}" maxlength="200"></form>
    <button class="btn icon" type="button" popovertarget="clear" aria-label="${words.deleteAllMessages}">${icon('trash')}</button>
    <div class="menu ask" id="clear" popover><form method="post" action="/delete-all"><b>${words.deleteAllTitle}</b><p>${words.deleteAllText}</p>
    <div class="row"><button class="btn stop s" type="submit">${words.deleteAll}</button></div></form></div></div>
${isReading && html`<p class="pad hint" role="status">${words.reading}</p>`}
${messages.length > 0 ? html`<ul class="mails">${messages.map((one) => row(one, part))}</ul>` : nothing(language, q)}
${foot(part)}</section>`
}

function row({ entry, digest }: ListedMessage, { assets, language, now, query, selected }: ListPart): Html {
  const { id, from, to, subject, receivedAt } = entry
  const icon = createIcons(assets)
  const format = createFormat(language, 'UTC', now)
  const words = pageWords(language)
  const at = new Date(receivedAt)
  const name = (text: string) => foreign(text.slice(0, MAX_TITLE))
  return html`<li><a class="go" id="m-${id}" href="/view/${id}${query}"${id === selected && html` aria-current="true"`}><b class="cut">
    ${subject ? name(subject) : words.noSubject}</b><small>${Number.isNaN(at.getTime()) ? null : format.ago(at)}</small><span class="sub row tight">
    <span class="cut">${name(digest?.name || from || '<>')} → ${name(to)}</span>${
      digest &&
      digest.attachments > 0 &&
      html`<span class="push" title="${words.hasAttachments}">${icon('clip')}<span class="sr">${words.hasAttachments}</span></span>`
    }</span>${digest && digest.preview !== '' && html`<span class="sub cut faint">${name(digest.preview)}</span>`}</a></li>`
}

function nothing(language: Language, q: string): Html {
  const words = pageWords(language)
  if (q !== '')
    return html`<div class="void"><h2>${words.nothingFound}</h2><p>
      ${words.nothingFoundText} <code>from:</code>, <code>to:</code>, <code>subject:</code>, <code>has:attachment</code>.</p><div class="row">
      <a class="btn" href="/">${words.showAll}</a></div></div>`
  return html`<div class="void"><h2>${words.none}</h2><p>${words.noneText} <code>bounce@example.com</code>, <code>defer-2@example.com</code>.</p></div>`
}

function foot({ assets, language, messages, total, before, older, q }: ListPart): Value {
  if (messages.length === 0) return null
  const icon = createIcons(assets)
  const format = createFormat(language, 'UTC', new Date(0))
  const words = pageWords(language)
  const first = q === '' ? '/' : `/?${new URLSearchParams({ q }).toString()}`
  return html`<footer class="more pad"><span>${format.number(before + 1)}–${format.number(before + messages.length)} / ${format.number(total)}</span>
    <span class="acts">${
      before > 0 && html`<a class="btn s" href="${first}">${icon('left')}${words.newest}</a>`
    }${older !== undefined && html`<a class="btn s" href="/${older}">${words.older}${icon('right')}</a>`}</span></footer>`
}

/** The right half of the page while no message is chosen. */
export function noMessagePart(language: Language): Html {
  const words = pageWords(language)
  const [before, between, after] = words.chooseText.split('{}')
  return html`<section class="void" aria-label="${words.noneChosen}"><h1 class="h2">${words.choose}</h1><p>${before}<kbd>j</kbd>${between}<kbd>k</kbd>
    ${after}</p></section>`
}
