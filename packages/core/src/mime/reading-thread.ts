import { type Served, serveOrders } from '../platform/threads/thread-orders.ts'
import type { MessageParts } from './message-parts.ts'
import { readParts } from './read-parts.ts'

/** The body of a thread that takes messages apart: octets come, octets go, and nothing stays. */
serveOrders((message: Uint8Array): Served<MessageParts> => {
  const { html, text, alternatives, files, ...parts } = readParts(
    Buffer.from(message.buffer, message.byteOffset, message.length),
  )
  const transfer: ArrayBuffer[] = []
  /** What is a part of something larger would take that along. */
  const own = (octets: Uint8Array): Uint8Array => {
    const alone = octets.byteLength === octets.buffer.byteLength ? octets : new Uint8Array(octets)
    transfer.push(alone.buffer as ArrayBuffer)
    return new Uint8Array(alone.buffer)
  }
  const answer: MessageParts = {
    ...parts,
    ...(html && { html: own(html) }),
    ...(text && { text: own(text) }),
    alternatives: alternatives.map(({ type, text }) => ({ type, text: own(text) })),
    files: files.map((file) => ({ ...file, content: own(file.content) })),
  }
  return { answer, transfer }
})
