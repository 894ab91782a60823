import { foreign, type Html, html, type Tone, type Value } from '@postrider/ui'
import { MAX_LINKS } from '../reading/html-parts.ts'
import type { JudgedLink, LinkStatus } from '../reading/judged-link.ts'
import type { PartOrder } from '../reading/part-order.ts'
import type { Shown } from '../reading/show-message.ts'
import { pageWords } from './page-words.ts'

/** The links with their texts, where they lead, and what answered there. */
export function linkList(_shown: Shown, order: PartOrder): Html {
  const { entry, language, query, links, canRequest } = order
  const words = pageWords(language)
  if (links.length === 0) return html`<p class="dim">${words.noLinks}</p>`
  const check = canRequest
    ? html`<form method="post" action="/view/${entry.id}/links${query}"><button class="btn s" type="submit">${words.checkLinks}</button></form>`
    : html`<p class="hint">${words.linksNotRequested} <code>SANDBOX_REQUESTS=allow</code>.</p>`
  return html`${check}<ul class="list box">${links.map((link) => row(link, order))}</ul>${
    links.length >= MAX_LINKS && html`<p class="hint">${words.firstLinks(String(MAX_LINKS))}</p>`
  }`
}

function row(link: JudgedLink, { language }: PartOrder): Html {
  const words = pageWords(language)
  const isWeb = /^https?:/i.test(link.target)
  const target = html`<code class="any">${foreign(link.target)}</code>`
  return html`<li><div><b class="any">${link.text ? foreign(link.text) : words.noLinkText}</b><p class="any">
    ${isWeb ? html`<a href="${link.target}" target="_blank" rel="noopener noreferrer nofollow">${target}</a>` : target}</p></div>
    <span class="row tight push">${link.isTracked && html`<span class="badge">${words.tracked}</span>`}${
      /^http:/i.test(link.target) && html`<span class="badge wait">http</span>`
    }${link.status && badge(link.status)}</span></li>`
}

function badge({ code, text }: LinkStatus): Value {
  const shown = code === 0 ? text : `${code} ${text}`
  return html`<span class="badge ${toneOf(code)}" lang="en">${foreign(shown.slice(0, 200))}</span>`
}

function toneOf(code: number): Tone {
  if (code >= 200 && code < 300) return 'good'
  return code >= 300 && code < 400 ? 'info' : 'bad'
}
