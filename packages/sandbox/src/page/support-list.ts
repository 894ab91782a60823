import { createFormat, foreign, type Html, html } from '@postrider/ui'
import type { HtmlWarning } from '../html-check/html-check.ts'
import type { PartOrder } from '../reading/part-order.ts'
import type { Shown } from '../reading/show-message.ts'
import { pageWords } from './page-words.ts'

/** Mail programs that a row names; the page of caniemail.com has all. */
const MAX_CLIENTS = 60

/** With the data of caniemail.com, which few messages are compared with. */
export async function supportOf(content: string) {
  const { checkHtml } = await import('../html-check/html-check.ts')
  return checkHtml(content)
}

/** The mail programs' support of the HTML. */
export async function supportList({ message }: Shown, { language }: PartOrder): Promise<Html> {
  const words = pageWords(language)
  const { Total, Warnings } = await supportOf(message.html ?? '')
  const format = createFormat(language, 'UTC', new Date(0))
  const percent = (value: number) => `${format.number(Math.round(value))} %`
  const [yes, partial, no] = [Total.Supported, Total.Partial, Total.Unsupported].map(percent)
  const figures = html`<b>${yes}</b> ${words.support.yes}, ${partial} ${words.support.partial}, ${no} ${words.support.no}.`
  const source = html`<a href="https://www.caniemail.com/" target="_blank" rel="noopener noreferrer">caniemail.com</a>`
  return html`<p>${figures} <span class="hint">${words.supportOf(format.number(Total.Tests))} ${source}.</span></p>
    ${Warnings.length === 0 && html`<p class="dim">${words.allSupported}</p>`}
    <ul class="list box">${Warnings.map((one) => row(one, percent, language))}</ul>`
}

function row(
  { Title, URL, Score, Results }: HtmlWarning,
  percent: (value: number) => string,
  language: PartOrder['language'],
): Html {
  const words = pageWords(language)
  const named = (support: 'no' | 'partial') => {
    const names = [
      ...new Set(
        Results.filter((one) => one.Support === support).map(({ Name }) => Name.slice(0, Name.lastIndexOf(' ('))),
      ),
    ]
    return (
      names.length > 0 &&
      html`<p class="any"><b>${words.support[support]}</b>: ${names.slice(0, MAX_CLIENTS).join(', ')}</p>`
    )
  }
  const figures = html`${percent(Score.Unsupported)} ${words.support.no}, ${percent(Score.Partial)} ${words.support.partial}`
  const source = html`<a href="${URL}" target="_blank" rel="noopener noreferrer">${foreign(Title)}, caniemail.com</a>`
  return html`<li><details><summary><b class="any">${foreign(Title)}</b>: ${figures}</summary>${named('no')}${named('partial')}<p>${source}</p></details>
    <span class="badge push">${Score.Found}×</span></li>`
}
