import { createFormat, createIcons, foreign, type Html, html } from '@postrider/ui'
import type { NotShown } from '../reading/message-reader.ts'
import type { HeadOrder } from '../reading/part-order.ts'
import { pageWords } from './page-words.ts'

const MAX_NAME_LENGTH = 998

export interface MessageHead extends HeadOrder {
  readonly sender?: string | undefined
  readonly recipients?: string | undefined
  readonly copied?: string | undefined
  readonly size?: number
}

/** Subject, addresses and the buttons of a message. */
export function messageHead(head: MessageHead): Html {
  const { entry, language, query, sender, recipients, copied, copies, size } = head
  const { from, to, subject } = entry
  const format = createFormat(language, 'UTC', new Date(0))
  const words = pageWords(language)
  const name = (text: string) => foreign(text.slice(0, MAX_NAME_LENGTH))
  return html`<a class="narrow small" href="/${query}">${words.allMessages}</a><div class="head"><h1 class="h2 any">
    ${subject ? foreign(subject) : words.noSubject}</h1>${acts(head)}</div>${noticeOf(head)}
<dl class="dl">${sender !== undefined && html`<dt>${words.from}</dt><dd class="any">${name(sender)}</dd>`}
  <dt>${words.returnPath}</dt><dd class="cut">${name(from || '<>')}</dd>${
    recipients !== undefined && html`<dt>${words.to}</dt><dd class="any">${name(recipients)}</dd>`
  }${copied !== undefined && html`<dt>Cc</dt><dd class="any">${name(copied)}</dd>`}${
    (copies.length > 1 || recipients !== to) && html`<dt>${words.recipient}</dt><dd class="any">${copyList(head)}</dd>`
  }${
    size !== undefined && html`<dt>${words.size}</dt><dd>${format.size(size)}</dd>`
  }<dt>${words.tags}</dt><dd>${tagForm(head)}</dd></dl>`
}

function acts({ entry: { id }, language, icons, query, history, releasesTo }: MessageHead): Html {
  const icon = createIcons({ url: () => icons })
  const words = pageWords(language)
  return html`<div class="row">${
    history && html`<a class="btn s" href="${history}">${icon('clock')}${words.history}</a>`
  }${
    releasesTo !== undefined &&
    html`<button class="btn s" type="button" popovertarget="release">${icon('send')}${words.release}</button><div class="menu ask" id="release" popover>
    <form class="stack s" method="post" action="/view/${id}/release${query}"><b>${words.releaseTitle}</b><p>${words.releaseText} ${foreign(releasesTo)}</p>
    <label class="sr" for="to">${words.to}</label><input class="in" id="to" name="to" type="email" multiple required maxlength="1000">
    <div class="row"><button class="btn main s" type="submit">${words.releaseNow}</button></div></form></div>`
  }<form method="post" action="/view/${id}/unread${query}"><button class="btn s icon" type="submit" aria-label="${words.markUnread}"
    title="${words.markUnread}">${icon('mail')}</button></form><a class="btn s" href="/messages/${id}/raw" download="${id}.eml">${icon('download')}.eml</a>
  <form method="post" action="/view/${id}/delete${query}"><button class="btn s icon" type="submit" aria-label="${words.deleteThis}">${icon('trash')}
  </button></form></div>`
}

/** The recipients of the envelopes; each leads to the copy that it got. */
function copyList({ entry: { id, to }, language, query, copies, moreCopies }: MessageHead): Html {
  const name = (text: string) => foreign(text.slice(0, MAX_NAME_LENGTH))
  if (copies.length < 2) return html`${name(to)}`
  return html`<ul class="row tight">${copies.map(
    (copy) =>
      html`<li>${copy.id === id ? html`<b>${name(copy.to)}</b>` : html`<a href="/view/${copy.id}${query}">${name(copy.to)}</a>`}</li>`,
  )}${moreCopies > 0 && html`<li>${pageWords(language).more(String(moreCopies))}</li>`}</ul>`
}

function tagForm({ entry: { id }, language, query, tags }: MessageHead): Html {
  const words = pageWords(language)
  return html`<form class="row tight" method="post" action="/view/${id}/tags${query}"><label class="sr" for="tags">${words.tags}</label>
    <input class="in tags" id="tags" name="tags" value="${tags.join(', ')}" maxlength="2200" placeholder="${words.tagsHint}">
    <button class="btn s" type="submit">${words.save}</button></form>`
}

function noticeOf({ language, icons, notice }: MessageHead): Html | false {
  if (!notice) return false
  const icon = createIcons({ url: () => icons })
  const words = pageWords(language)
  const isGood = notice.kind !== 'failed'
  return html`<div class="${isGood ? 'note good' : 'note bad'}" role="status">${icon(isGood ? 'check' : 'warn')}<div><p>
    ${words.notices[notice.kind]} ${foreign(notice.detail.slice(0, MAX_NAME_LENGTH))}</p></div></div>`
}

/** The part of the page for a message that could not be shown. */
export function notShownPart(head: MessageHead, why: NotShown['why']): Html {
  return html`<div class="pad stack s">${messageHead(head)}<p>${pageWords(head.language).notShown[why]} ${download(head)}</p></div>`
}

/** A link to the whole message. */
export function download({ entry: { id }, language }: Pick<HeadOrder, 'entry' | 'language'>): Html {
  return html`<a href="/messages/${id}/raw" download="${id}.eml">${pageWords(language).raw}</a>`
}
