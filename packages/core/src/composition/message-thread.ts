import { Rotation } from '../platform/concurrency/rotation.ts'
import { startWatchedThread, ThreadStopped, type WatchedThread } from '../platform/concurrency/watched-thread.ts'
import { type FilledContent, Unrenderable } from './fill.ts'
import { flowOf, type LoadedMessage } from './load.ts'
import type { MessageCost } from './message-cost.ts'
import type { MessageThreadData, MessageThreadReport, MessageThreadRequest } from './message-thread-body.ts'
import type { Addressed } from './write-delivery.ts'

/** Milliseconds of processor time that one message may take. The worst known message of 30 MB takes two seconds. */
const MAX_CPU = 20_000
/** Milliseconds between two checks of a busy thread. */
const CHECK_INTERVAL = 500
/** Milliseconds after which an idle thread exits and frees its memory. */
const IDLE = 5000
/** Megabytes of heap. The worst known message, 28 MB of line ends, takes 260. */
const HEAP = 384

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
  write(outgoing: OutgoingMessage): Promise<Buffer>
  close(): Promise<void>
}

interface Waiting extends OutgoingMessage {
  readonly settle: PromiseWithResolvers<Buffer>
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
  const queue = new Rotation<Waiting>()
  let running: Running | undefined
  let serving = false
  let idle: NodeJS.Timeout | undefined

  async function serve(): Promise<void> {
    serving = true
    clearTimeout(idle)
    for (let next = queue.shift(); next; next = queue.shift()) {
      // The thread may have exited since the last message.
      if (!running?.usable) running = startThread(data)
      await running.write(next).then(next.settle.resolve, next.settle.reject)
    }
    serving = false
    idle = setTimeout(() => void stop(), IDLE).unref()
  }

  async function stop(): Promise<void> {
    const thread = running
    running = undefined
    await thread?.stop()
  }

  return {
    write(outgoing) {
      const settle = Promise.withResolvers<Buffer>()
      queue.push(flowOf(outgoing.message), { ...outgoing, settle })
      if (!serving) void serve()
      return settle.promise
    },
    async close() {
      clearTimeout(idle)
      for (const { settle } of queue.drain()) settle.reject(new Error('the process is shutting down'))
      await stop()
    },
  }
}

interface Running {
  readonly usable: boolean
  write(outgoing: OutgoingMessage): Promise<Buffer>
  stop(): Promise<unknown>
}

function startThread(data: MessageThreadData): Running {
  let current: PromiseWithResolvers<Buffer> | undefined
  /** The message whose body the thread has. */
  let sent: WeakRef<LoadedMessage> | undefined
  const thread: WatchedThread<MessageThreadRequest> = startWatchedThread<MessageThreadRequest, MessageThreadReport>({
    name: 'threads',
    url: new URL('./message-thread-body.ts', import.meta.url),
    workerData: data,
    heap: HEAP,
    mostCpu: MAX_CPU,
    interval: CHECK_INTERVAL,
    onReport(report) {
      if (report.kind === 'ready') return
      thread.setBusy(false)
      const settle = current
      current = undefined
      if (report.kind === 'failed') settle?.reject(errorOf(report))
      else settle?.resolve(Buffer.from(report.octets.buffer, report.octets.byteOffset, report.octets.byteLength))
    },
    onEnd: (cause) =>
      current?.reject(cause instanceof ThreadStopped ? tooCostly(cause.why === 'memory' ? 'memory' : 'time') : cause),
  })

  return {
    get usable() {
      return thread.alive
    },
    async write({ message, delivery, rendered }) {
      const settle = Promise.withResolvers<Buffer>()
      current = settle
      const { recipient, recipientNo, personal } = delivery
      const whole = sent?.deref() === message ? undefined : message
      thread.setBusy(true)
      thread.send({ message: whole, delivery: { recipient, recipientNo, personal }, rendered })
      sent = new WeakRef(message)
      return settle.promise
    },
    stop: thread.stop,
  }
}

function errorOf({ sentence, why, stack }: Extract<MessageThreadReport, { kind: 'failed' }>): Error {
  return why === undefined ? Object.assign(new Error(sentence), { cause: stack }) : new Unrenderable({ why, sentence })
}

function tooCostly(why: 'time' | 'memory'): Unrenderable {
  return new Unrenderable({
    why,
    sentence: `building the message takes too much ${why === 'time' ? 'processor time' : 'memory'}`,
  })
}
