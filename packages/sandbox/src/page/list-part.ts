import { type Assets, createFormat, createIcons, foreign, type Html, html, type Value } from '@postrider/ui'
import type { Digest } from '../digest.ts'
import type { InboxEntry } from '../inbox-entry.ts'

export interface ListedMessage {
  readonly entry: InboxEntry
  readonly digest: Digest | undefined
}

export interface ListPart {
  readonly assets: Assets
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
  const { assets, messages, q, isReading } = part
  const icon = createIcons(assets)
  return html`<section id="page" aria-label="Messages" tabindex="0"><div class="pad row tight finder"><form class="find" role="search" action="/">${icon('search')}<label class="sr" for="q">Search the inbox</label><input class="in" id="q" type="search" placeholder="Search the inbox" name="q" value="${q}" maxlength="200"></form><button class="btn icon" type="button" popovertarget="clear" aria-label="Delete all messages">${icon('trash')}</button><div class="menu ask" id="clear" popover><form method="post" action="/delete-all"><b>Delete all messages?</b><p>They cannot be restored.</p><div class="row"><button class="btn stop s" type="submit">Delete all</button></div></form></div></div>
${isReading && html`<p class="pad hint" role="status">Older messages are still being read; the list is not complete.</p>`}
${messages.length > 0 ? html`<ul class="mails">${messages.map((one) => row(one, part))}</ul>` : nothing(q)}
${foot(part)}</section>`
}

function row({ entry, digest }: ListedMessage, { assets, now, query, selected }: ListPart): Html {
  const { id, from, to, subject, receivedAt } = entry
  const icon = createIcons(assets)
  const format = createFormat('en', 'UTC', now)
  const at = new Date(receivedAt)
  const name = (text: string) => foreign(text.slice(0, MAX_TITLE))
  return html`<li><a class="go" id="m-${id}" href="/view/${id}${query}"${id === selected && html` aria-current="true"`}><b class="cut">${subject ? name(subject) : '(no subject)'}</b><small>${Number.isNaN(at.getTime()) ? null : format.ago(at)}</small><span class="sub row tight"><span class="cut">${name(digest?.name || from || '<>')} → ${name(to)}</span>${
    digest &&
    digest.attachments > 0 &&
    html`<span class="push" title="Has attachments">${icon('clip')}<span class="sr">Has attachments</span></span>`
  }</span>${digest && digest.preview !== '' && html`<span class="sub cut faint">${name(digest.preview)}</span>`}</a></li>`
}

function nothing(q: string): Html {
  if (q !== '')
    return html`<div class="void"><h2>No message matches</h2><p>Words are found in subjects, addresses and the first line. <code>from:</code>, <code>to:</code>, <code>subject:</code> and <code>has:attachment</code> narrow the search.</p><div class="row"><a class="btn" href="/">Show all messages</a></div></div>`
  return html`<div class="void"><h2>No messages yet</h2><p>Mail that your application sends appears here by itself. To try a failure, send to <code>bounce@example.com</code> or <code>defer-2@example.com</code>.</p></div>`
}

function foot({ assets, messages, total, before, older, q }: ListPart): Value {
  if (messages.length === 0) return null
  const icon = createIcons(assets)
  const format = createFormat('en', 'UTC', new Date(0))
  const first = q === '' ? '/' : `/?${new URLSearchParams({ q }).toString()}`
  return html`<footer class="more pad"><span>${format.number(before + 1)}–${format.number(before + messages.length)} / ${format.number(total)}</span><span class="acts">${
    before > 0 && html`<a class="btn s" href="${first}">${icon('left')}Newest</a>`
  }${older !== undefined && html`<a class="btn s" href="/${older}">Older${icon('right')}</a>`}</span></footer>`
}

/** The right half of the page while no message is chosen. */
export function noMessagePart(): Html {
  return html`<section class="void" aria-label="No message chosen"><h1 class="h2">Choose a message</h1><p>Or press <kbd>j</kbd> and <kbd>k</kbd> to go through them. New mail appears at the top by itself.</p></section>`
}
