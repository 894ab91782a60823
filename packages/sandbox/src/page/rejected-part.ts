import { type Assets, createFormat, createIcons, foreign, type Html, html, type Language } from '@postrider/ui'
import { historyUrl } from '../reading/return-path.ts'
import { type FoundRejections, MAX_REJECTIONS, type Rejection } from '../smtp/rejections.ts'
import { pageWords } from './page-words.ts'

const MAX_NAME_LENGTH = 320

export interface RejectedPart extends FoundRejections {
  readonly assets: Assets
  readonly language: Language
  readonly now: Date
  readonly publicUrl: string
  readonly q: string
}

/** Recipients and messages that the sandbox rejected, deferred or hung up on. */
export function rejectedPart(part: RejectedPart): Html {
  const { assets, language, rejections, q } = part
  const icon = createIcons(assets)
  const words = pageWords(language)
  const none = html`<section class="box void">${icon('ban')}<h2>${q === '' ? words.nothingRejected : words.noRejectionFound}</h2><p>
    ${words.nothingRejectedText} <code>bounce@</code>, <code>full@</code>, <code>defer-2@</code>, <code>disconnect@</code>.</p></section>`
  return html`<div class="page slim" id="page"><header class="head"><div><h1>${words.rejectedTitle}</h1><p class="lead">
    ${words.rejectedLead(String(MAX_REJECTIONS))}</p></div></header>
    <form class="find" role="search" action="/rejected">${icon('search')}<label class="sr" for="q">${words.searchRejected}</label>
    <input class="in" id="q" type="search" placeholder="${words.searchRejected}" name="q" value="${q}" maxlength="200"></form>
    ${rejections.length > 0 ? html`<ul class="list box">${rejections.map((one) => row(one, part))}</ul>${foot(part)}` : none}</div>`
}

function row(one: Rejection, { assets, language, now, publicUrl }: RejectedPart): Html {
  const { id, at, from, to, reply } = one
  const icon = createIcons(assets)
  const format = createFormat(language, 'UTC', now)
  const words = pageWords(language)
  const name = (text: string) => foreign(text.slice(0, MAX_NAME_LENGTH))
  const history = historyUrl(publicUrl, from)
  const same = `/?${new URLSearchParams({ q: `to:"${to.replaceAll('"', '').slice(0, 190)}"` }).toString()}`
  const what = html`<b class="any">${name(to)}</b><p>${reply ? html`<code lang="en">${reply.code} ${reply.text}</code>` : words.noReply}</p>`
  const when = html`${words.results[resultOf(one)]} ${format.ago(at)}, ${words.returnPath} <span class="any">${name(from || '<>')}</span>`
  const links = html`<a class="btn s" href="${same}">${icon('inbox')}${words.receivedMail}</a>${
    history && html`<a class="btn s" href="${history}">${icon('clock')}${words.history}</a>`
  }`
  return html`<li id="r-${id}">${sign(one, icon)}<div>${what}<p class="hint">${when}</p></div><span class="acts">${links}</span></li>`
}

function foot({ assets, language, rejections, start, total, q }: RejectedPart): Html {
  const icon = createIcons(assets)
  const words = pageWords(language)
  const end = start + rejections.length
  const link = (fields: Record<string, string>) => {
    const query = new URLSearchParams({ ...(q === '' ? {} : { q }), ...fields }).toString()
    return query === '' ? '/rejected' : `/rejected?${query}`
  }
  return html`<footer class="more"><span>${start + 1}–${end} / ${total}</span><span class="acts">${
    start > 0 && html`<a class="btn s" href="${link({})}">${icon('left')}${words.newest}</a>`
  }${end < total && html`<a class="btn s" href="${link({ before: rejections.at(-1)?.id ?? '' })}">${words.older}${icon('right')}</a>`}</span></footer>`
}

function sign({ reply }: Rejection, icon: ReturnType<typeof createIcons>): Html {
  if (!reply) return icon('s-missing', 'wait')
  return reply.code < 500 ? icon('s-deferred', 'wait') : icon('s-bounced', 'bad')
}

function resultOf({ reply }: Rejection): 'disconnected' | 'deferred' | 'rejected' {
  if (!reply) return 'disconnected'
  return reply.code < 500 ? 'deferred' : 'rejected'
}
