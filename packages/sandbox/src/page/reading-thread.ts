import { type Served, serveOrders } from '@postrider/core/thread-orders'
import { render } from '@postrider/ui'
import { readDigest } from '../reading/digest.ts'
import { readHead } from '../reading/head.ts'
import { textOf } from '../reading/html-parts.ts'
import { mailpitHeaders, mailpitMessage } from '../reading/mailpit-message.ts'
import { messageLinks } from '../reading/message-links.ts'
import type { JsonOrder, MailpitOrder, MessageAnswer, MessageOrder, ShowOrder } from '../reading/message-orders.ts'
import type { PartOrder } from '../reading/part-order.ts'
import { readAttachment, showMessage, shownHtml } from '../reading/show-message.ts'
import { withFindings } from '../reading/shown-message.ts'
import { messagePart } from './message-part.ts'
import { supportOf } from './support-list.ts'

/** The thread that parses messages: it receives the name of a file and returns the response. */
serveOrders(async (order: MessageOrder): Promise<Served<MessageAnswer>> => {
  if (order.form === 'head') return { answer: await readHead(order.file), transfer: [] }
  if (order.form === 'digest') return { answer: await readDigest(order.file), transfer: [] }
  if (order.form === 'attachment') {
    const answer = await readAttachment(order.file, order.number)
    return { answer, transfer: answer ? [answer.content.buffer] : [] }
  }
  const text = await write(order)
  if (text === undefined) return { answer: undefined, transfer: [] }
  const octets = new TextEncoder().encode(text)
  return { answer: octets, transfer: [octets.buffer] }
})

async function write(order: ShowOrder | JsonOrder | MailpitOrder | PartOrder): Promise<string | undefined> {
  const shown = await showMessage(order.file, order.entry)
  if (!shown) return undefined
  const { html, text } = shown.message
  if (order.form === 'part') return render(await messagePart(shown, order))
  if (order.form === 'mailpit') return mailpitMessage(shown, order)
  if (order.form === 'html') return html === null ? undefined : shownHtml(shown)
  if (order.form === 'text') return text ?? (html === null ? undefined : textOf(html, html.length))
  if (order.form === 'headers') return mailpitHeaders(shown)
  if (order.form === 'links') return JSON.stringify(messageLinks(shown))
  if (order.form === 'json') return JSON.stringify(withFindings(shown.message, order))
  return html === null ? undefined : JSON.stringify(await supportOf(html))
}
