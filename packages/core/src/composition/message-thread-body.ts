import { workerData } from 'node:worker_threads'
import { garbageCollector } from '../platform/concurrency/garbage.ts'
import { type Served, serveOrders } from '../platform/concurrency/thread-orders.ts'
import { createSecrets, type SharedKeys } from '../platform/security/secrets.ts'
import { type FilledContent, Unrenderable } from './fill.ts'
import type { LinkOptions } from './links-for.ts'
import type { LoadedMessage } from './load.ts'
import { type Addressed, writeDelivery } from './write-delivery.ts'

export interface MessageThreadData extends Omit<LinkOptions, 'secrets'> {
  readonly keys: SharedKeys
}

/** `message` is undefined if it is the same as in the previous order. */
export interface MessageOrder {
  readonly message: LoadedMessage | undefined
  readonly delivery: Addressed
  readonly rendered: FilledContent | undefined
}

/** The message, or why it is Unrenderable. */
export type WrittenMessage =
  | { readonly octets: Uint8Array; readonly notes: readonly string[] }
  | { readonly why: 'time' | 'output'; readonly sentence: string }

const { keys, ...links } = workerData as MessageThreadData
const options = { ...links, secrets: createSecrets(keys) }
const { collect } = garbageCollector()
let message: LoadedMessage | undefined

/** The thread that builds messages. It has no access to environment, files or database. */
serveOrders((order: MessageOrder): Served<WrittenMessage> => {
  // After the answer. Not a release: it takes longer, and a large message to many recipients is built here for each of them.
  setImmediate(collect)
  if (order.message) message = withBuffers(order.message)
  try {
    const built = writeDelivery(message as LoadedMessage, order.delivery, options, order.rendered)
    const octets = transferable(built.octets, message)
    return { answer: { octets, notes: built.notes }, transfer: [octets.buffer as ArrayBuffer] }
  } catch (error) {
    if (!(error instanceof Unrenderable)) throw error
    return { answer: { why: error.passing ? 'time' : 'output', sentence: error.message }, transfer: [] }
  }
})

/** Restores Buffers, which arrive as plain Uint8Arrays. */
function withBuffers(message: LoadedMessage): LoadedMessage {
  const parts = [...(message.parts ?? [])].map(
    ([part, octets]) => [part, Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength)] as const,
  )
  return { ...message, parts: new Map(parts) }
}

/** Returns the bytes in an ArrayBuffer that can be transferred: one that holds nothing else and is not needed again. */
function transferable(written: Buffer, message: LoadedMessage | undefined): Uint8Array {
  const alone = written.byteLength === written.buffer.byteLength && written !== message?.parts?.get(0)
  return alone ? written : Uint8Array.prototype.slice.call(written)
}
