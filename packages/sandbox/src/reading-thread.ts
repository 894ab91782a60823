import { type Served, serveOrders } from '@postrider/core/thread-orders'
import type { MessageAnswer, MessageOrder } from './message-orders.ts'
import { messagePage } from './pages.ts'
import { showMessage } from './show-message.ts'
import { readSubject } from './subject.ts'

/** The thread that parses messages: it receives the name of a file and returns the response. */
serveOrders(async (order: MessageOrder): Promise<Served<MessageAnswer>> => {
  if (order.form === 'subject') return { answer: await readSubject(order.file), transfer: [] }
  const text = await write(order)
  if (text === undefined) return { answer: undefined, transfer: [] }
  const octets = new TextEncoder().encode(text)
  return { answer: octets, transfer: [octets.buffer] }
})

async function write({ form, entry, file }: Exclude<MessageOrder, { form: 'subject' }>): Promise<string | undefined> {
  const shown = await showMessage(file, entry)
  if (!shown) return undefined
  if (form === 'html') return shown.message.html || undefined
  return form === 'json' ? JSON.stringify(shown.message) : messagePage(shown)
}
