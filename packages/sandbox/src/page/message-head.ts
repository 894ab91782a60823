import { createFormat, createIcons, foreign, type Html, html } from '@postrider/ui'
import type { InboxEntry } from '../inbox-entry.ts'
import type { NotShown } from '../message-reader.ts'

const MAX_NAME_LENGTH = 998

export interface MessageHead {
  readonly entry: InboxEntry
  readonly icons: string
  readonly query: string
  readonly history: string | undefined
  readonly sender?: string | undefined
  readonly recipients?: string | undefined
  readonly size?: number
}

/** Subject, addresses and the buttons of a message. */
export function messageHead({ entry, icons, query, history, sender, recipients, size }: MessageHead): Html {
  const { id, from, to, subject } = entry
  const icon = createIcons({ url: () => icons })
  const format = createFormat('en', 'UTC', new Date(0))
  const name = (text: string) => foreign(text.slice(0, MAX_NAME_LENGTH))
  return html`<a class="narrow small" href="/${query}">← All messages</a><div class="head"><h1 class="h2 any">${subject ? foreign(subject) : '(no subject)'}</h1><div class="row">${
    history && html`<a class="btn s" href="${history}">${icon('clock')}History</a>`
  }<a class="btn s" href="/messages/${id}/raw" download="${id}.eml">${icon('download')}.eml</a><form method="post" action="/view/${id}/delete"><button class="btn s icon" type="submit" aria-label="Delete this message">${icon('trash')}</button></form></div></div>
<dl class="dl">${sender !== undefined && html`<dt>From</dt><dd class="any">${name(sender)}</dd>`}${recipients !== undefined && html`<dt>To</dt><dd class="any">${name(recipients)}</dd>`}${recipients !== to && html`<dt>Recipient</dt><dd class="any">${name(to)}</dd>`}<dt>Return path</dt><dd class="cut">${name(from || '<>')}</dd>${
    size !== undefined && html`<dt>Size</dt><dd>${format.size(size)}</dd>`
  }</dl>`
}

/** The part of the page for a message that could not be shown. */
export function notShownPart(head: MessageHead, why: NotShown['why']): Html {
  return html`<div class="pad stack s">${messageHead(head)}<p>Cannot show this message: ${WHY[why]}. ${download(head.entry.id)} is complete.</p></div>`
}

const WHY: Readonly<Record<NotShown['why'], string>> = {
  time: 'parsing takes too long',
  memory: 'parsing takes too much memory',
  busy: 'the inbox is busy; reload after a few seconds',
}

export function download(id: string): Html {
  return html`<a href="/messages/${id}/raw" download="${id}.eml">The raw message</a>`
}
