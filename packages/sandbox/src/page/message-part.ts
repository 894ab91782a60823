import { createFormat, createIcons, foreign, type Html, html, type Value } from '@postrider/ui'
import { MAX_LINKS, partsOf } from '../reading/html-parts.ts'
import { type PartOrder, TABS, type Tab } from '../reading/part-order.ts'
import { readSource, type Shown } from '../reading/show-message.ts'
import { checkMessage } from './checks.ts'
import { isClipped } from './clipping.ts'
import { download, messageHead } from './message-head.ts'
import { pageWords } from './page-words.ts'

/** Maximum characters of a content, and of a header, on a page. */
const MAX_LENGTH = 256 * 1024
const MAX_ATTACHMENTS = 200
const MAX_NAME_LENGTH = 998

/** The part of the page that shows one message. Runs in a thread. */
export async function messagePart(shown: Shown, order: PartOrder): Promise<Html> {
  const head = messageHead({ ...order, sender: shown.sender, recipients: shown.recipients, size: shown.size })
  if (shown.source !== undefined) {
    const words = pageWords(order.language)
    return html`<div class="pad stack s">${head}<p>${words.notParsed} ${download(order)}</p><h3>${words.beginning}</h3>${code(shown.source)}</div>`
  }
  const tab =
    order.tab && (order.tab !== 'html' || shown.message.html) ? order.tab : shown.message.html ? 'html' : 'text'
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
    return message.html !== null || (tab !== 'html' && tab !== 'links')
  })
  return html`<nav class="tabs" aria-label="${words.parts}" tabindex="0">${seen.map(
    (tab) =>
      html`<a href="${url(entry.id, query, { part: tab })}"${tab === current && html` aria-current="page"`}>${words.tabs[tab]}
        ${counts[tab] !== undefined && html` <small>${counts[tab]}</small>`}</a>`,
  )}</nav>`
}

const BODIES: Readonly<Record<Tab, (shown: Shown, order: PartOrder) => Value | Promise<Value>>> = {
  html: frame,
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
}

/** The message's own HTML is at a URL of its own, where nothing runs and nothing is loaded from elsewhere before a click. */
function frame({ message }: Shown, { entry, hasImages, icons, isPhone, language, query }: PartOrder): Html {
  const words = pageWords(language)
  const icon = createIcons({ url: () => icons })
  const phone = isPhone ? { width: 'phone' } : {}
  const images = hasImages ? { images: '1' } : {}
  const link = (text: string, fields: Readonly<Record<string, string>>, isCurrent: boolean) =>
    html`<a href="${url(entry.id, query, fields)}"${isCurrent && html` aria-current="true"`}>${text}</a>`
  const content = message.html ?? ''
  return html`<div class="pad row"><span class="seg">${link(words.desktop, images, !isPhone)}
    ${link(words.phone, { ...images, width: 'phone' }, isPhone)}</span><span class="row tight push">${
      !hasImages &&
      partsOf(content).remoteImages > 0 &&
      html`<a class="btn s" href="${url(entry.id, query, { ...phone, images: '1' })}">${words.showImages}</a>`
    }<a class="btn s" href="/messages/${entry.id}/html" target="_blank" rel="noopener" title="${words.viewTitle}">${words.view}${icon('out')}</a></span></div>
${isClipped(content) && html`<div class="pad"><div class="note wait">${icon('warn')}<div><p>${words.clipped}</p></div></div></div>`}
<iframe class="${isPhone ? 'frame phone' : 'frame'}" sandbox="" src="/view/${entry.id}/html${hasImages && '?images=1'}" title="${words.frame}"></iframe>`
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

function linkList({ message }: Shown, { language }: PartOrder): Html {
  const words = pageWords(language)
  const { links, hasMoreLinks } = partsOf(message.html ?? '')
  if (links.length === 0) return html`<p class="dim">${words.noLinks}</p>`
  return html`<ul class="list box">${links.map((link) => {
    const isWeb = /^https?:/i.test(link)
    const text = html`<code class="any">${foreign(link)}</code>`
    return html`<li><div>${isWeb ? html`<a href="${link}" target="_blank" rel="noopener noreferrer nofollow">${text}</a>` : text}</div>
      ${/^http:/i.test(link) && html`<span class="badge wait">http</span>`}</li>`
  })}</ul>${hasMoreLinks && html`<p class="hint">${words.firstLinks(String(MAX_LINKS))}</p>`}`
}

async function checkList(shown: Shown, order: PartOrder): Promise<Html> {
  const icon = createIcons({ url: () => order.icons })
  const signs = { good: 's-delivered', bad: 's-bounced', wait: 'warn', info: 'info', idle: 's-waiting' } as const
  const checks = await checkMessage(shown, order)
  return html`<ul class="list box">${checks.map(
    ({ name, tone, result, text }) =>
      html`<li>${icon(signs[tone], tone)}<div><b>${name}</b>: ${result}<p class="any">${foreign(text)}</p></div></li>`,
  )}</ul>`
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

function url(id: string, query: string, fields: Readonly<Record<string, string>>): string {
  const all = new URLSearchParams(query)
  for (const [name, value] of Object.entries(fields)) all.set(name, value)
  return all.size === 0 ? `/view/${id}` : `/view/${id}?${all.toString()}`
}
