import { createFormat, createIcons, foreign, type Html, html, type Language } from '@postrider/ui'
import type { InboxEntry } from '../inbox-entry.ts'
import type { NotShown } from '../reading/message-reader.ts'
import { pageWords } from './page-words.ts'

const MAX_NAME_LENGTH = 998

export interface MessageHead {
  readonly entry: InboxEntry
  readonly language: Language
  readonly icons: string
  readonly query: string
  readonly history: string | undefined
  readonly sender?: string | undefined
  readonly recipients?: string | undefined
  readonly size?: number
}

/** Subject, addresses and the buttons of a message. */
export function messageHead({ entry, language, icons, query, history, sender, recipients, size }: MessageHead): Html {
  const { id, from, to, subject } = entry
  const icon = createIcons({ url: () => icons })
  const format = createFormat(language, 'UTC', new Date(0))
  const words = pageWords(language)
  const name = (text: string) => foreign(text.slice(0, MAX_NAME_LENGTH))
  return html`<a class="narrow small" href="/${query}">${words.allMessages}</a><div class="head"><h1 class="h2 any">
    ${subject ? foreign(subject) : words.noSubject}</h1><div class="row">${
      history && html`<a class="btn s" href="${history}">${icon('clock')}${words.history}</a>`
    }<a class="btn s" href="/messages/${id}/raw" download="${id}.eml">${icon('download')}.eml</a>
  <form method="post" action="/view/${id}/delete${query}"><button class="btn s icon" type="submit" aria-label="${words.deleteThis}">${icon('trash')}
  </button></form></div></div>
<dl class="dl">${sender !== undefined && html`<dt>${words.from}</dt><dd class="any">${name(sender)}</dd>`}${
    recipients !== undefined &&
    html`<dt>
  ${words.to}</dt><dd class="any">${name(recipients)}</dd>`
  }${recipients !== to && html`<dt>${words.recipient}</dt><dd class="any">${name(to)}</dd>`}
  <dt>${words.returnPath}</dt><dd class="cut">${name(from || '<>')}</dd>${
    size !== undefined && html`<dt>${words.size}</dt><dd>${format.size(size)}</dd>`
  }</dl>`
}

/** The part of the page for a message that could not be shown. */
export function notShownPart(head: MessageHead, why: NotShown['why']): Html {
  return html`<div class="pad stack s">${messageHead(head)}<p>${pageWords(head.language).notShown[why]} ${download(head)}</p></div>`
}

/** A link to the whole message. */
export function download({ entry: { id }, language }: Pick<MessageHead, 'entry' | 'language'>): Html {
  return html`<a href="/messages/${id}/raw" download="${id}.eml">${pageWords(language).raw}</a>`
}
