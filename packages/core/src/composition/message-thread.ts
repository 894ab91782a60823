import { Worker } from 'node:worker_threads'
import { bareThread } from '../platform/concurrency/bare-thread.ts'
import { Rotation } from '../platform/concurrency/rotation.ts'
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
/** Heap limits in megabytes. The worst known message, 28 MB of line ends, takes 260. */
const HEAP = { maxOldGenerationSizeMb: 384, maxYoungGenerationSizeMb: 16 } as const

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
  const thread = new Worker(new URL('./message-thread-body.ts', import.meta.url), {
    workerData: data,
    ...bareThread(),
    name: 'threads',
    resourceLimits: HEAP,
  })
  let usable = true
  let current: PromiseWithResolvers<Buffer> | undefined
  /** The message whose body the thread has. */
  let sent: WeakRef<LoadedMessage> | undefined

  function end(error: Error): void {
    usable = false
    current?.reject(error)
    void thread.terminate()
  }
  thread.on('message', (report: MessageThreadReport) => {
    thread.unref()
    const settle = current
    current = undefined
    if (report.kind === 'failed') settle?.reject(errorOf(report))
    else settle?.resolve(Buffer.from(report.octets.buffer, report.octets.byteOffset, report.octets.byteLength))
  })
  thread.on('error', (error: Error & { code?: string }) =>
    end(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooCostly('memory') : error),
  )
  thread.on('exit', () => end(new Error('the thread that builds messages exited')))

  /** Measures processor time, because elapsed time depends on the load of the host. */
  async function watch(before: { cpu: number | undefined }): Promise<void> {
    const watched = current
    const { user, system } = await thread.cpuUsage().catch(() => ({ user: 0, system: 0 }))
    const cpu = (user + system) / 1000
    before.cpu ??= cpu
    if (watched && current === watched && cpu - before.cpu > MAX_CPU) end(tooCostly('time'))
  }

  return {
    get usable() {
      return usable
    },
    async write({ message, delivery, rendered }) {
      const settle = Promise.withResolvers<Buffer>()
      current = settle
      thread.ref()
      const { recipient, recipientNo, personal } = delivery
      const whole = sent?.deref() === message ? undefined : message
      const order: MessageThreadRequest = { message: whole, delivery: { recipient, recipientNo, personal }, rendered }
      thread.postMessage(order)
      sent = new WeakRef(message)
      const before = { cpu: undefined }
      const watching = setInterval(() => void watch(before), CHECK_INTERVAL)
      return settle.promise.finally(() => clearInterval(watching))
    },
    stop: () => thread.terminate(),
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
