import { type Served, serveOrders } from '../platform/concurrency/thread-orders.ts'
import type { MessageParts } from './message-parts.ts'
import { readParts } from './read-parts.ts'

/** Thread that parses messages. It keeps no state between messages. */
serveOrders((message: Uint8Array): Served<MessageParts> => {
  const { html, text, alternatives, files, ...parts } = readParts(
    Buffer.from(message.buffer, message.byteOffset, message.length),
  )
  const transfer: ArrayBuffer[] = []
  /** Copies an array that shares its buffer with others, because a transfer moves the whole buffer. */
  const detached = (octets: Uint8Array): Uint8Array => {
    const alone = octets.byteLength === octets.buffer.byteLength ? octets : new Uint8Array(octets)
    transfer.push(alone.buffer as ArrayBuffer)
    return new Uint8Array(alone.buffer)
  }
  const answer: MessageParts = {
    ...parts,
    ...(html && { html: detached(html) }),
    ...(text && { text: detached(text) }),
    alternatives: alternatives.map(({ type, text }) => ({ type, text: detached(text) })),
    files: files.map((file) => ({ ...file, content: detached(file.content) })),
  }
  return { answer, transfer }
})
