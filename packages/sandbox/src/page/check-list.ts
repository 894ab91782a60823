import { createIcons, foreign, type Html, html } from '@postrider/ui'
import type { PartOrder } from '../reading/part-order.ts'
import type { Shown } from '../reading/show-message.ts'
import { checkMessage } from './checks.ts'
import { pageWords } from './page-words.ts'

/** The checks of a receiver, and unsubscribing by one click to try. */
export async function checkList(shown: Shown, order: PartOrder): Promise<Html> {
  const icon = createIcons({ url: () => order.icons })
  const words = pageWords(order.language)
  const signs = { good: 's-delivered', bad: 's-bounced', wait: 'warn', info: 'info', idle: 's-waiting' } as const
  const checks = await checkMessage(shown, order)
  const hasOneClick = shown.message.headers.some(({ name }) => name.toLowerCase() === 'list-unsubscribe-post')
  return html`<ul class="list box">${checks.map(
    ({ name, tone, result, text }) =>
      html`<li>${icon(signs[tone], tone)}<div><b>${name}</b>: ${result}<p class="any">${foreign(text)}</p></div></li>`,
  )}</ul>${
    hasOneClick &&
    html`<form class="row" method="post" action="/view/${order.entry.id}/unsubscribe${order.query}"><button class="btn s" type="submit">${words.tryUnsubscribe}
    </button><span class="hint">${words.tryUnsubscribeText}</span></form>`
  }`
}
