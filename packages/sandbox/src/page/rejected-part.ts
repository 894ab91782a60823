import { type Assets, createFormat, createIcons, foreign, type Html, html, type Language } from '@postrider/ui'
import type { Rejection } from '../smtp/rejections.ts'
import { historyUrl } from './history.ts'
import { pageWords } from './page-words.ts'

/** Number of rejections on the page, the latest ones. */
const LIST_LENGTH = 200
const MAX_NAME_LENGTH = 320

export interface RejectedPart {
  readonly assets: Assets
  readonly language: Language
  readonly now: Date
  readonly publicUrl: string
  /** The newest is last. */
  readonly rejections: readonly Rejection[]
}

/** Recipients and messages that the sandbox rejected, deferred or hung up on. */
export function rejectedPart({ assets, language, now, publicUrl, rejections }: RejectedPart): Html {
  const icon = createIcons(assets)
  const format = createFormat(language, 'UTC', now)
  const words = pageWords(language)
  const name = (text: string) => foreign(text.slice(0, MAX_NAME_LENGTH))
  const rows = rejections
    .slice(-LIST_LENGTH)
    .reverse()
    .map((one) => {
      const { id, at, from, to } = one
      const history = historyUrl(publicUrl, from)
      const reply = one.reply ? html`<code lang="en">${one.reply.code} ${one.reply.text}</code>` : words.noReply
      return html`<li id="r-${id}">${sign(one, icon)}<div><b class="any">${name(to)}</b><p>${reply}</p><p class="hint">
        ${words.results[resultOf(one)]} ${format.ago(at)}</p></div>${
          history &&
          html`<a class="btn s" href="${history}">${icon('clock')}
        ${words.history}</a>`
        }</li>`
    })
  const list = html`<ul class="list box">${rows}</ul>`
  const none = html`<section class="box void">${icon('ban')}<h2>${words.nothingRejected}</h2><p>
    ${words.nothingRejectedText} <code>bounce@</code>, <code>full@</code>, <code>defer-2@</code>, <code>disconnect@</code>.</p></section>`
  return html`<div class="page slim" id="page"><header class="head"><div><h1>${words.rejectedTitle}</h1><p class="lead">
    ${words.rejectedLead(String(LIST_LENGTH))}</p></div></header>${rejections.length > 0 ? list : none}</div>`
}

function sign({ reply }: Rejection, icon: ReturnType<typeof createIcons>): Html {
  if (!reply) return icon('s-missing', 'wait')
  return reply.code < 500 ? icon('s-deferred', 'wait') : icon('s-bounced', 'bad')
}

function resultOf({ reply }: Rejection): 'disconnected' | 'deferred' | 'rejected' {
  if (!reply) return 'disconnected'
  return reply.code < 500 ? 'deferred' : 'rejected'
}
