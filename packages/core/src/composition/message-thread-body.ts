import { parentPort, workerData } from 'node:worker_threads'
import { garbageCollector } from '../platform/concurrency/garbage.ts'
import { cpuUsed } from '../platform/concurrency/thread-orders.ts'
import type { Reported } from '../platform/concurrency/watched-thread.ts'
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

export type MessageThreadReport = Reported &
  (
    | { readonly kind: 'ready' }
    | { readonly kind: 'written'; readonly octets: Uint8Array }
    /** `why` is set if the error is Unrenderable. */
    | { readonly kind: 'failed'; readonly sentence: string; readonly why?: 'time' | 'output'; readonly stack?: string }
  )

/** Body of the thread that builds messages. It has no access to environment, files or database. */
function serve(): void {
  const port = parentPort
  if (!port) return
  const { keys, ...links } = workerData as MessageThreadData
  const options = { ...links, secrets: createSecrets(keys) }
  const { collect } = garbageCollector()
  const report = (report: MessageThreadReport, transfer: readonly ArrayBuffer[] = []): void =>
    port.postMessage(report, [...transfer])
  let message: LoadedMessage | undefined
  port.on('message', (order: MessageThreadRequest) => {
    if (order.message) message = withBuffers(order.message)
    try {
      const octets = transferable(
        writeDelivery(message as LoadedMessage, order.delivery, options, order.rendered),
        message,
      )
      report({ kind: 'written', octets, cpu: cpuUsed() }, [octets.buffer as ArrayBuffer])
    } catch (error) {
      report(failureOf(error))
    }
    // Not a release: it takes longer, and a large message to many recipients is built here for each of them.
    collect()
  })
  report({ kind: 'ready', cpu: cpuUsed() })
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
    return { kind: 'failed', sentence: message, why: error.passing ? 'time' : 'output', cpu: cpuUsed() }
  }
  return { kind: 'failed', sentence: message, ...defined({ stack }), cpu: cpuUsed() }
}

serve()
