import { type DeliveryDetails, type MessageDetails, ServiceError, type ShownBody } from '@postrider/core'
import { foreign, type Html, html, type Value } from '@postrider/ui'
import { type AccountCall, field } from '../../frame/call.ts'
import { checks } from './checks.ts'
import { messagesWords } from './messages-words.ts'
import { transcript } from './session/transcript.ts'

const TABS = ['html', 'text', 'source', 'header', 'files', 'transcript', 'checks'] as const
type Tab = (typeof TABS)[number]

/** The parts of a message. Those that say what it says need the right `content`; the SMTP session names addresses only. */
export async function messageTabs(
  call: AccountCall,
  details: MessageDetails,
  chosen: DeliveryDetails | undefined,
): Promise<Html> {
  const { language, may, path, query } = call
  const words = messagesWords(language)
  const tabs: readonly Tab[] = may('content') ? TABS : ['transcript']
  const tab = tabs.find((one) => one === field(query, 'tab')) ?? (tabs[0] as Tab)
  const body = tab === 'transcript' || !chosen ? undefined : await findBody(call, details, chosen)
  const link = (one: Tab, fields: Readonly<Record<string, string>> = {}) =>
    `${path(`messages/${details.id}`)}?${new URLSearchParams({ tab: one, ...(chosen ? { to: String(chosen.recipientNo) } : {}), ...fields }).toString()}`
  const nav = html`<div><nav class="tabs" aria-label="${words.parts}">${tabs.map(
    (one) => html`<a href="${link(one)}"${one === tab && html` aria-current="page"`}>${words.tabs[one]}</a>`,
  )}</nav></div>`
  const shown =
    tab === 'transcript'
      ? transcript(call, details, chosen)
      : typeof body === 'object'
        ? tab === 'checks'
          ? await checks(call, details, body)
          : part(call, { tab, body, details, link })
        : withoutBody(call, body ?? 'messageNotFound', path(`messages/${details.id}/source?to=${chosen?.recipientNo}`))
  return html`${nav}${!may('content') && html`<p class="hint">${words.noContent}</p>`}<section class="box">${shown}</section>`
}

/** The errors that say why there is no body to show. */
const NO_BODY = ['messageNotFound', 'messageBodyGone', 'messageBodyUnreadable', 'messageMalformed'] as const
type NoBody = (typeof NO_BODY)[number]

async function findBody(
  { core, account, written }: AccountCall,
  { id }: MessageDetails,
  { recipientNo }: DeliveryDetails,
): Promise<ShownBody | NoBody> {
  try {
    return await core.messages.body({ accountId: account.id, messageId: id, recipientNo, held: written() })
  } catch (error) {
    const why = error instanceof ServiceError ? NO_BODY.find((name) => name === error.errorName) : undefined
    if (why === undefined) throw error
    return why
  }
}

function withoutBody({ icon, language }: AccountCall, why: NoBody, source: string): Html {
  const words = messagesWords(language)
  if (why === 'messageBodyUnreadable')
    return html`<div class="void">${icon('warn')}<h2>${words.unreadable}</h2><p>${words.damagedText}</p></div>`
  if (why === 'messageMalformed')
    return html`<div class="void">${icon('warn')}<h2>${words.unreadable}</h2><p>${words.unparsedText}</p><a class="btn" href="${source}">
      ${words.download}</a></div>`
  return html`<div class="void">${icon('clock')}<h2>${words.gone}</h2><p>${words.goneText}</p></div>`
}

interface Part {
  readonly tab: Exclude<Tab, 'transcript' | 'checks'>
  readonly body: ShownBody
  readonly details: MessageDetails
  readonly link: (tab: Tab, fields?: Readonly<Record<string, string>>) => string
}

function part(call: AccountCall, shown: Part): Html {
  const { format, language, path } = call
  const words = messagesWords(language)
  const { tab, body, details } = shown
  const copy = path(`messages/${details.id}/source?to=${body.recipientNo}`)
  switch (tab) {
    case 'html':
      return htmlPart(call, shown)
    case 'text':
      return body.text ? textPart(call, body.text) : html`<div class="void"><p>${words.noText}</p></div>`
    case 'source':
      return html`<header><h2>${words.tabs.source}</h2><a class="btn s push" href="${copy}">${words.download}, ${format.size(body.source.size)}</a>
        </header>${textPart(call, body.source)}`
    case 'header':
      return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.tabs.header}"><table class="smtp"><tbody>${body.headers.map(
        ({ name, value }) => html`<tr><th scope="row">${foreign(name)}</th><td class="any">${foreign(value)}</td></tr>`,
      )}</tbody></table></div>`
    case 'files':
      return files(call, shown)
  }
}

function textPart({ format, language }: AccountCall, { text, size, isCut }: ShownBody['source']): Html {
  const shown = messagesWords(language).cut(format.size(text.length), format.size(size))
  return html`<div class="code bare"><pre tabindex="0" class="any">${text}</pre></div>${isCut && html`<footer>${shown}</footer>`}`
}

/** The HTML is a document of its own, without origin or scripts; see policy.ts. */
function htmlPart({ language, path, query }: AccountCall, { body, details, link }: Part): Html {
  const words = messagesWords(language)
  if (!body.html) return html`<div class="void"><p>${words.noHtml}</p></div>`
  const images = field(query, 'images') === '1'
  const phone = field(query, 'width') === 'phone'
  const at = `${path(`messages/${details.id}/html`)}?to=${body.recipientNo}${images ? '&images=1' : ''}`
  const widths = html`<nav class="seg" aria-label="${words.width}">
    <a href="${link('html', images ? { images: '1' } : {})}"${!phone && html` aria-current="true"`}>${words.wide}</a>
    <a href="${link('html', { width: 'phone', ...(images ? { images: '1' } : {}) })}"${phone && html` aria-current="true"`}>${words.phone}</a></nav>`
  const toggle = link('html', { ...(images ? {} : { images: '1' }), ...(phone ? { width: 'phone' } : {}) })
  return html`<header><h2 class="sr">${words.tabs.html}</h2>${widths}<p class="wide-only">${!images && words.imagesOff}</p>
    <a class="btn s push" href="${toggle}">${images ? words.hideImages : words.showImages}</a></header>
    <iframe class="frame${phone ? ' phone' : ''}" sandbox src="${at}" title="${words.tabs.html}"></iframe>`
}

function files({ format, language, path }: AccountCall, { body, details }: Part): Html {
  const words = messagesWords(language)
  if (body.attachments.length === 0) return html`<div class="void"><p>${words.noFiles}</p></div>`
  const at = (index: number): Value => path(`messages/${details.id}/files/${index}?to=${body.recipientNo}`)
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.tabs.files}"><table class="hov"><thead><tr><th>${words.name}</th><th>
    ${words.type}</th><th class="n">${words.size}</th></tr></thead><tbody>${body.attachments.map(
      ({ index, fileName, type, size }) =>
        html`<tr><td><a class="go any" href="${at(index)}">${fileName ? foreign(fileName) : words.unnamed}</a></td><td class="dim">${type}</td>
        <td class="n">${format.size(size)}</td></tr>`,
    )}</tbody></table></div>`
}
