import { parentPort, workerData } from 'node:worker_threads'
import { garbageCollector } from '../platform/concurrency/garbage.ts'
import { defined } from '../platform/defined.ts'
import { createSecrets, type SharedKeys } from '../platform/security/secrets.ts'
import { type FilledContent, Unrenderable } from './fill.ts'
import type { LinkOptions } from './links-for.ts'
import type { LoadedMessage } from './load.ts'
import { type Addressed, writeDelivery } from './write-delivery.ts'

export interface MessageThreadData extends Omit<LinkOptions, 'secrets'> {
  readonly keys: SharedKeys
}

/** `message` is undefined if it is the same as in the previous order. */
export interface MessageThreadRequest {
  readonly message: LoadedMessage | undefined
  readonly delivery: Addressed
  readonly rendered: FilledContent | undefined
}

export type MessageThreadReport =
  | { readonly kind: 'written'; readonly octets: Uint8Array }
  /** `why` is set if the error is Unrenderable. */
  | { readonly kind: 'failed'; readonly sentence: string; readonly why?: 'time' | 'output'; readonly stack?: string }

/** Body of the thread that builds messages. It has no access to environment, files or database. */
function serve(): void {
  const port = parentPort
  if (!port) return
  const { keys, ...links } = workerData as MessageThreadData
  const options = { ...links, secrets: createSecrets(keys) }
  const { collect } = garbageCollector()
  let message: LoadedMessage | undefined
  port.on('message', (order: MessageThreadRequest) => {
    if (order.message) message = withBuffers(order.message)
    try {
      const octets = transferable(
        writeDelivery(message as LoadedMessage, order.delivery, options, order.rendered),
        message,
      )
      port.postMessage({ kind: 'written', octets } satisfies MessageThreadReport, [octets.buffer as ArrayBuffer])
    } catch (error) {
      port.postMessage(failureOf(error))
    }
    // Not a release: it takes longer, and a large message to many recipients is built here for each of them.
    collect()
  })
}

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

function failureOf(error: unknown): MessageThreadReport {
  const { message, stack } = error as Error
  if (error instanceof Unrenderable) {
    return { kind: 'failed', sentence: message, why: error.passing ? 'time' : 'output' }
  }
  return { kind: 'failed', sentence: message, ...defined({ stack }) }
}

serve()
