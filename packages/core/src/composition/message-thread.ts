import { createThreadPool, ThreadStopped } from '../platform/concurrency/guarded-thread.ts'
import type { BuiltMessage } from './built-message.ts'
import { type FilledContent, Unrenderable } from './fill.ts'
import { flowOf, type LoadedMessage } from './load.ts'
import type { MessageCost } from './message-cost.ts'
import type { MessageOrder, MessageThreadData, WrittenMessage } from './message-thread-body.ts'
import type { Addressed } from './write-delivery.ts'

export interface OutgoingMessage {
  readonly message: LoadedMessage
  readonly delivery: Addressed
  readonly rendered?: FilledContent
}

/**
 * Builds messages that are too large for the main loop, one after the other. Flows take turns: hundreds of messages of one account, each of which
 * took a second, kept those of others waiting for minutes, with their sessions open.
 */
export interface MessageThread {
  /** Rejects with Unrenderable. */
  write(outgoing: OutgoingMessage): Promise<BuiltMessage>
  close(): Promise<void>
}

/** A thread for each cost, so that a message that takes seconds delays only others of its cost. */
export interface MessageThreads extends Readonly<Record<Exclude<MessageCost, 'little'>, MessageThread>> {
  close(): Promise<void>
}

/** Creates the threads of both costs. Each starts with its first message and exits when idle. */
export function createMessageThreads(data: MessageThreadData): MessageThreads {
  const [some, much] = [createMessageThread(data), createMessageThread(data)]
  return { some, much, close: async () => void (await Promise.all([some.close(), much.close()])) }
}

/** The thread starts with the first message, so that an unused one takes no memory. */
function createMessageThread(data: MessageThreadData): MessageThread {
  const pool = createThreadPool<MessageOrder, WrittenMessage>({
    name: 'building messages',
    url: new URL('./message-thread-body.ts', import.meta.url),
    workerData: data,
    threads: 1,
    waiting: Number.POSITIVE_INFINITY,
    // The worst known message of 30 MB takes two seconds, and one of 28 MB of line ends 260 MB.
    mostCpu: 20_000,
    heap: 384,
    idle: 5000,
  })
  /** The message whose body the thread has. */
  let sent: WeakRef<LoadedMessage> | undefined

  return {
    async write({ message, delivery, rendered }) {
      const { recipient, recipientNo, personal } = delivery
      const make = (isFirst: boolean): MessageOrder => {
        const whole = !isFirst && sent?.deref() === message ? undefined : message
        sent = new WeakRef(message)
        return { message: whole, delivery: { recipient, recipientNo, personal }, rendered }
      }
      try {
        const written = await pool.askInTurn(make, { who: flowOf(message) })
        if ('why' in written) throw new Unrenderable(written)
        const { buffer, byteOffset, byteLength } = written.octets
        return { octets: Buffer.from(buffer, byteOffset, byteLength), notes: written.notes }
      } catch (error) {
        throw error instanceof ThreadStopped ? tooCostly(error.why === 'memory' ? 'memory' : 'time') : error
      }
    },
    close: () => pool.close(),
  }
}

function tooCostly(why: 'time' | 'memory'): Unrenderable {
  return new Unrenderable({
    why,
    sentence: `building the message takes too much ${why === 'time' ? 'processor time' : 'memory'}`,
  })
}
