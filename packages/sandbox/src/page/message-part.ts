import { createFormat, createIcons, foreign, type Html, html, type Value } from '@postrider/ui'
import { partsOf } from '../reading/html-parts.ts'
import { type PartOrder, TABS, type Tab, WIDTHS } from '../reading/part-order.ts'
import { readSource, type Shown } from '../reading/show-message.ts'
import { checkList } from './check-list.ts'
import { isClipped } from './clipping.ts'
import { linkList } from './link-list.ts'
import { download, messageHead } from './message-head.ts'
import { pageWords } from './page-words.ts'
import { partUrl } from './part-url.ts'
import { supportList } from './support-list.ts'

/** Maximum characters of a content, and of a header, on a page. */
const MAX_LENGTH = 256 * 1024
const MAX_ATTACHMENTS = 200
const MAX_NAME_LENGTH = 998
/** Tabs of messages with HTML only. */
const OF_HTML: ReadonlySet<Tab> = new Set(['html', 'widths', 'support'])

/** The part of the page that shows one message. Runs in a thread. */
export async function messagePart(shown: Shown, order: PartOrder): Promise<Html> {
  const head = messageHead({ ...order, ...shown })
  if (shown.source !== undefined) {
    const words = pageWords(order.language)
    return html`<div class="pad stack s">${head}<p>${words.notParsed} ${download(order)}</p><h3>${words.beginning}</h3>${code(shown.source)}</div>`
  }
  const usual = shown.message.html ? 'html' : 'text'
  const tab = order.tab && (shown.message.html || !OF_HTML.has(order.tab)) ? order.tab : usual
  const body = await BODIES[tab](shown, order)
  return html`<div class="pad stack s">${head}${tabs(shown, order, tab)}${tab !== 'html' && body}</div>${tab === 'html' && body}`
}

function tabs({ message }: Shown, { entry, language, query }: PartOrder, current: Tab): Html {
  const words = pageWords(language)
  const counts: Partial<Record<Tab, number>> = {
    header: message.headers.length,
    attachments: message.attachments.length,
  }
  const seen = TABS.filter((tab) => {
    if (tab === 'attachments') return message.attachments.length > 0
    return message.html !== null || !OF_HTML.has(tab)
  })
  return html`<nav class="tabs" aria-label="${words.parts}" tabindex="0">${seen.map(
    (tab) =>
      html`<a href="${partUrl(entry.id, query, { part: tab })}"${tab === current && html` aria-current="page"`}>${words.tabs[tab]}
        ${counts[tab] !== undefined && html` <small>${counts[tab]}</small>`}</a>`,
  )}</nav>`
}

const BODIES: Readonly<Record<Tab, (shown: Shown, order: PartOrder) => Value | Promise<Value>>> = {
  html: frame,
  widths: frames,
  text: ({ message }, order) =>
    cutNote(
      message.text ?? '',
      order,
      message.text
        ? code(message.text.slice(0, MAX_LENGTH))
        : html`<p class="dim">${pageWords(order.language).noText}</p>`,
    ),
  source: ({ size }, order) => {
    const source = readSource(order.file)
    return html`${Buffer.byteLength(source) < size && note(order)}${code(source)}`
  },
  header: ({ message }, order) => {
    const header = message.headers.map(({ name, value }) => `${name}: ${value}`).join('\n')
    return cutNote(header, order, code(header.slice(0, MAX_LENGTH)))
  },
  attachments: attachmentList,
  links: linkList,
  checks: checkList,
  support: supportList,
}

/** The message's own HTML is at a URL of its own, where nothing runs and nothing is loaded from elsewhere before a click. */
function frame({ message }: Shown, { entry, hasImages, icons, width, language, query }: PartOrder): Html {
  const words = pageWords(language)
  const icon = createIcons({ url: () => icons })
  const images = hasImages ? { images: '1' } : {}
  const widthOf = (name: string) => (name === 'desktop' ? {} : { width: name })
  const link = (text: string, fields: Readonly<Record<string, string>>, isCurrent: boolean) =>
    html`<a href="${partUrl(entry.id, query, fields)}"${isCurrent && html` aria-current="true"`}>${text}</a>`
  const content = message.html ?? ''
  return html`<div class="pad row"><span class="seg">${WIDTHS.map((name) =>
    link(words.widths[name], { ...images, ...widthOf(name) }, name === width),
  )}</span><span class="row tight push">${
    !hasImages &&
    partsOf(content).remoteImages > 0 &&
    html`<a class="btn s" href="${partUrl(entry.id, query, { ...widthOf(width), images: '1' })}">${words.showImages}</a>`
  }<a class="btn s" href="/messages/${entry.id}/html" target="_blank" rel="noopener" title="${words.viewTitle}">${words.view}${icon('out')}</a></span></div>
${isClipped(content) && html`<div class="pad"><div class="note wait">${icon('warn')}<div><p>${words.clipped}</p></div></div></div>`}
<iframe class="frame ${width}" sandbox="" src="/view/${entry.id}/html${hasImages && '?images=1'}" title="${words.frame}"></iframe>`
}

/** The message at all three widths side by side, at the same scale. */
function frames(_shown: Shown, { entry, language, hasImages }: PartOrder): Html {
  const words = pageWords(language)
  return html`<div class="shots" role="group" tabindex="0" aria-label="${words.tabs.widths}">${WIDTHS.map(
    (width) =>
      html`<figure class="shot ${width}"><figcaption>${words.widths[width]}</figcaption><div><iframe class="frame" sandbox=""
      src="/view/${entry.id}/html${hasImages && '?images=1'}" title="${words.frame}, ${words.widths[width]}"></iframe></div></figure>`,
  )}</div>`
}

function attachmentList({ message }: Shown, { icons, language }: PartOrder): Html {
  const words = pageWords(language)
  const icon = createIcons({ url: () => icons })
  const format = createFormat(language, 'UTC', new Date(0))
  const { attachments, id } = message
  return html`<ul class="list box">${attachments.slice(0, MAX_ATTACHMENTS).map(
    ({ fileName, contentType, size }, number) =>
      html`<li>${icon('clip')}<div><a class="any" href="/view/${id}/attachments/${number}">
          ${foreign((fileName ?? words.unnamed).slice(0, MAX_NAME_LENGTH))}</a><p class="any">
          ${foreign(contentType.slice(0, MAX_NAME_LENGTH))}, ${format.size(size)}</p></div></li>`,
  )}</ul>${
    attachments.length > MAX_ATTACHMENTS &&
    html`<p class="hint">
      ${words.firstAttachments(format.number(MAX_ATTACHMENTS), format.number(attachments.length))}</p>`
  }`
}

function cutNote(whole: string, order: PartOrder, body: Html): Html {
  return html`${whole.length > MAX_LENGTH && note(order)}${body}`
}

function note(order: PartOrder): Html {
  return html`<p>${pageWords(order.language).cut} ${download(order)}</p>`
}

function code(text: string): Html {
  return html`<div class="code"><pre tabindex="0" class="wrap">${text}</pre></div>`
}
