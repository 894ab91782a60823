import type { BuiltMessage } from '../built-message.ts'
import type { ContentDocument } from '../content.ts'
import { renderContent } from '../fill.ts'
import { type LinkOptions, urlsFor } from '../links-for.ts'
import { flowOf, type LoadedMessage } from '../load.ts'
import { costOfMessage } from '../message-cost.ts'
import type { MessageThreads, OutgoingMessage } from '../message-thread.ts'
import type { RecipientData } from '../recipient-data.ts'
import { type Addressed, documentOf, writeDelivery } from '../write-delivery.ts'
import type { RenderQueue } from './render-queue.ts'

export interface RenderOptions extends LinkOptions {
  readonly queue: RenderQueue
  /** Threads that build messages which would take too long on the main loop. */
  readonly threads: MessageThreads
}

/**
 * Returns the unsigned MIME message of one delivery, the same bytes for every attempt. Returns a promise if a template is rendered
 * for each recipient, or if building takes so long that a thread does it. Throws (or rejects with) Unrenderable or overloaded.
 */
export function renderDelivery(
  message: LoadedMessage,
  delivery: Addressed,
  options: RenderOptions,
): BuiltMessage | Promise<BuiltMessage> {
  if (isRendered(message)) return renderTemplate(message, delivery, options)
  return write({ message, delivery }, options)
}

async function renderTemplate(
  message: LoadedMessage,
  delivery: Addressed,
  options: RenderOptions,
): Promise<BuiltMessage> {
  const rendered = await renderContent({
    content: documentOf(message),
    personal: delivery.personal as RecipientData | null,
    urls: () => urlsFor(message, delivery, options),
    queue: options.queue,
    flow: flowOf(message),
  })
  return write({ message, delivery, rendered }, options)
}

function write(outgoing: OutgoingMessage, options: RenderOptions): BuiltMessage | Promise<BuiltMessage> {
  const { message, delivery, rendered } = outgoing
  const cost = costOfMessage(message, delivery, rendered?.content)
  return cost === 'little' ? writeDelivery(message, delivery, options, rendered) : options.threads[cost].write(outgoing)
}

/** JSON escapes the quotes within texts, so only the document's own member matches this (content.ts). */
const RENDERED = `"${'rendered' satisfies keyof ContentDocument}":[`
const known = new WeakMap<LoadedMessage, boolean>()

/** Whether the content is a dynamic template. Does not parse it, because it may be large. */
function isRendered(message: LoadedMessage): boolean {
  if (message.format === 'mime') return false
  let rendered = known.get(message)
  if (rendered === undefined) known.set(message, (rendered = message.parts?.get(0)?.includes(RENDERED) === true))
  return rendered
}
