import { type Served, serveOrders } from '@postrider/core/thread-orders'
import { render } from '@postrider/ui'
import { readDigest } from '../reading/digest.ts'
import type { MessageAnswer, MessageOrder, ShowOrder } from '../reading/message-orders.ts'
import type { PartOrder } from '../reading/part-order.ts'
import { previewHtml, readAttachment, showMessage } from '../reading/show-message.ts'
import { readSubject } from '../reading/subject.ts'
import { messagePart } from './message-part.ts'

/** The thread that parses messages: it receives the name of a file and returns the response. */
serveOrders(async (order: MessageOrder): Promise<Served<MessageAnswer>> => {
  if (order.form === 'subject') return { answer: await readSubject(order.file), transfer: [] }
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

async function write(order: ShowOrder | PartOrder): Promise<string | undefined> {
  const shown = await showMessage(order.file, order.entry)
  if (!shown) return undefined
  if (order.form === 'part') return render(await messagePart(shown, order))
  if (order.form === 'html') return shown.message.html || undefined
  if (order.form === 'preview') return previewHtml(shown)
  return JSON.stringify(shown.message)
}
