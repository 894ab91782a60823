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
import { mailboxText, type Row } from '../inbox-entry.ts'
import type { Digest } from '../reading/digest.ts'
import { pageWords } from './page-words.ts'

export interface ListedMessage {
  readonly row: Row
  readonly digest: Digest | undefined
  readonly isRead: boolean
  readonly tags: readonly string[]
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
  /** The word of the search that means nothing. */
  readonly problem: string | undefined
  /** Whether messages are still being read, which the search may find. */
  readonly isReading: boolean
  readonly selected: string | undefined
  /** Query of the page with its question mark; empty for the first one without a search. */
  readonly query: string
  /** Query of the next page; undefined if this is the last one. */
  readonly older: string | undefined
}

const MAX_TITLE = 300
/** Recipients and tags that a row names. */
const MAX_NAMED = 3

/** The list of messages, which follows what arrives. */
export function listPart(part: ListPart): Html {
  const { assets, language, messages, q, isReading, problem, selected } = part
  const words = pageWords(language)
  const icon = createIcons(assets)
  return html`<section id="page" aria-label="${words.messages}" tabindex="0">${
    selected === undefined && html`<h1 class="sr">${words.inbox}</h1>`
  }<div class="pad row tight finder">
    <form class="find" role="search" action="/">${icon('search')}<label class="sr" for="q">${words.search}</label>
    <input class="in" id="q" type="search" placeholder="${words.search}" name="q" value="${q}" maxlength="200"></form>${acts(part)}</div>
${problem !== undefined && html`<p class="pad hint" role="alert">${words.badTerm(problem)}</p>`}
${isReading && html`<p class="pad hint" role="status">${words.reading}</p>`}
${messages.length > 0 ? html`<ul class="mails">${messages.map((one) => row(one, part))}</ul>` : nothing(part)}
${foot(part)}</section>`
}

/** Actions on all messages of the list, on this page and on the others. */
function acts({ assets, language, q, total }: ListPart): Value {
  if (total === 0) return null
  const words = pageWords(language)
  const icon = createIcons(assets)
  const count = createFormat(language, 'UTC', new Date(0)).number(total)
  const query = q === '' ? '' : `?${new URLSearchParams({ q }).toString()}`
  return html`<form method="post" action="/read-all${query}"><button class="btn icon" type="submit" aria-label="${words.readAll}" title="${words.readAll}">
    ${icon('check')}</button></form>
    <button class="btn icon" type="button" popovertarget="clear" aria-label="${q === '' ? words.deleteAllMessages : words.deleteFound(count)}">
    ${icon('trash')}</button><div class="menu ask" id="clear" popover><form method="post" action="/delete-all${query}"><b>
    ${q === '' ? words.deleteAllTitle : words.deleteFoundTitle(count)}</b><p>${words.deleteAllText}</p>
    <div class="row"><button class="btn stop s" type="submit">${q === '' ? words.deleteAll : words.deleteFound(count)}</button></div></form></div>`
}

function row({ row, digest, isRead, tags }: ListedMessage, { assets, language, now, query, selected }: ListPart): Html {
  const { id, from, subject, receivedAt, head } = row.entries[0]
  const icon = createIcons(assets)
  const format = createFormat(language, 'UTC', now)
  const words = pageWords(language)
  const at = new Date(receivedAt)
  const name = (text: string) => foreign(text.slice(0, MAX_TITLE))
  const sender = head.from ? mailboxText(head.from) : from || '<>'
  return html`<li><a class="${isRead ? 'go' : 'go unread'}" id="m-${id}" href="/view/${id}${query}"${row.message === selected && html` aria-current="true"`}>
    <b class="cut">${!isRead && html`<span class="sr">${words.unread}: </span>`}${subject ? name(subject) : words.noSubject}</b>
    <small>${Number.isNaN(at.getTime()) ? null : format.ago(at)}</small><span class="sub row tight">
    <span class="cut">${name(sender)} → ${name(recipientText(row, words.more))}</span>${
      digest &&
      digest.attachments > 0 &&
      html`<span class="push" title="${words.hasAttachments}">${icon('clip')}<span class="sr">${words.hasAttachments}</span></span>`
    }</span>${digest && digest.preview !== '' && html`<span class="sub cut faint">${name(digest.preview)}</span>`}${
      tags.length > 0 &&
      html`<span class="sub row tight">${tags.slice(0, MAX_NAMED).map((tag) => html`<span class="badge">${foreign(tag)}</span>`)}</span>`
    }</a></li>`
}

/** The recipients of the envelopes, each once. */
function recipientText({ entries }: Row, more: (count: string) => string): string {
  const all = new Set(entries.map(({ to }) => to))
  const rest = all.size - MAX_NAMED
  return [...[...all].slice(0, MAX_NAMED), ...(rest > 0 ? [more(String(rest))] : [])].join(', ')
}

function nothing({ language, q, problem }: ListPart): Html {
  const words = pageWords(language)
  if (problem !== undefined || q !== '')
    return html`<div class="void"><h2>${words.nothingFound}</h2><p>${words.nothingFoundText} ${SEARCHES.map((one) => html`<code>${one}</code> `)}</p><p>
      ${words.excluding} <code>-is:read</code>.</p><div class="row"><a class="btn" href="/">${words.showAll}</a></div></div>`
  return html`<div class="void"><h2>${words.none}</h2><p>${words.noneText} <code>bounce@example.com</code>, <code>defer-2@example.com</code>.</p></div>`
}

/** Examples of what narrows a search. */
const SEARCHES =
  'from: to: cc: subject: message-id: tag: is:unread has:attachment has:html larger:1MB after:2d before:2026-11-30'.split(
    ' ',
  )

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
  return html`<section class="void" aria-label="${words.noneChosen}"><h2>${words.choose}</h2><p>${before}<kbd>j</kbd>${between}<kbd>k</kbd>
    ${after}</p></section>`
}
