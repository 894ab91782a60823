import { Worker } from 'node:worker_threads'
import { type FilledContent, Unrenderable } from './fill.ts'
import type { LetterCost } from './letter-cost.ts'
import type { LetterOrder, LetterReport, LetterThreadData } from './letter-thread-body.ts'
import type { LoadedMessage } from './load.ts'
import type { Addressed } from './write-delivery.ts'

/** Milliseconds of computing that one letter may take. The worst of 30 MB that were found take two seconds. */
const MOST_CPU = 20_000
/** Milliseconds between two looks at a thread that is busy. */
const LOOK = 500
/** Milliseconds after which a thread without work ends, and gives its memory back. */
const IDLE = 5000
/** Megabytes: 28 MB of line ends, the worst that was found, take 260. */
const HEAP = { maxOldGenerationSizeMb: 384, maxYoungGenerationSizeMb: 16 } as const

export interface Letter {
  readonly message: LoadedMessage
  readonly delivery: Addressed
  readonly rendered?: FilledContent
}

/** Writes letters too large to be written on a main loop, one after the other. */
export interface LetterThread {
  /** Rejects with Unrenderable. */
  write(letter: Letter): Promise<Buffer>
  close(): Promise<void>
}

interface Waiting extends Letter {
  readonly settle: PromiseWithResolvers<Buffer>
}

/** A thread for each cost, so that a letter that takes seconds holds up only its like. */
export interface LetterThreads extends Readonly<Record<Exclude<LetterCost, 'little'>, LetterThread>> {
  close(): Promise<void>
}

export function createLetterThreads(data: LetterThreadData): LetterThreads {
  const [some, much] = [createLetterThread(data), createLetterThread(data)]
  return { some, much, close: async () => void (await Promise.all([some.close(), much.close()])) }
}

/** Nothing runs, and nothing is held, until there is something to write. */
function createLetterThread(data: LetterThreadData): LetterThread {
  const queue: Waiting[] = []
  let running: Running | undefined
  let serving = false
  let idle: NodeJS.Timeout | undefined

  async function serve(): Promise<void> {
    serving = true
    clearTimeout(idle)
    for (let next = queue.shift(); next; next = queue.shift()) {
      // It may have ended between two letters.
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
    write(letter) {
      const settle = Promise.withResolvers<Buffer>()
      queue.push({ ...letter, settle })
      if (!serving) void serve()
      return settle.promise
    },
    async close() {
      clearTimeout(idle)
      for (const { settle } of queue.splice(0)) settle.reject(new Error('the process is ending'))
      await stop()
    },
  }
}

interface Running {
  readonly usable: boolean
  write(letter: Letter): Promise<Buffer>
  stop(): Promise<unknown>
}

function startThread(data: LetterThreadData): Running {
  const thread = new Worker(new URL('./letter-thread-body.ts', import.meta.url), {
    ...{ workerData: data, env: {}, argv: [], execArgv: [], name: 'letters', resourceLimits: HEAP },
  })
  let usable = true
  let current: PromiseWithResolvers<Buffer> | undefined
  /** The message whose body it has. */
  let held: WeakRef<LoadedMessage> | undefined

  function end(error: Error): void {
    usable = false
    current?.reject(error)
    void thread.terminate()
  }
  thread.on('message', (report: LetterReport) => {
    thread.unref()
    const settle = current
    current = undefined
    if (report.kind === 'failed') settle?.reject(errorOf(report))
    else settle?.resolve(Buffer.from(report.octets.buffer, report.octets.byteOffset, report.octets.byteLength))
  })
  thread.on('error', (error: Error & { code?: string }) =>
    end(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooCostly('memory') : error),
  )
  thread.on('exit', () => end(new Error('the thread that writes letters ended')))

  /** Time on the clock says nothing where others want the processor. */
  async function watch(before: { cpu: number | undefined }): Promise<void> {
    const asked = current
    const { user, system } = await thread.cpuUsage().catch(() => ({ user: 0, system: 0 }))
    const cpu = (user + system) / 1000
    before.cpu ??= cpu
    if (asked && current === asked && cpu - before.cpu > MOST_CPU) end(tooCostly('time'))
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
      const whole = held?.deref() === message ? undefined : message
      const order: LetterOrder = { message: whole, delivery: { recipient, recipientNo, personal }, rendered }
      thread.postMessage(order)
      held = new WeakRef(message)
      const before = { cpu: undefined }
      const watching = setInterval(() => void watch(before), LOOK)
      return settle.promise.finally(() => clearInterval(watching))
    },
    stop: () => thread.terminate(),
  }
}

function errorOf({ sentence, why, stack }: Extract<LetterReport, { kind: 'failed' }>): Error {
  return why === undefined ? Object.assign(new Error(sentence), { cause: stack }) : new Unrenderable({ why, sentence })
}

function tooCostly(why: 'time' | 'memory'): Unrenderable {
  return new Unrenderable({ why, sentence: `writing the message takes too much ${why}` })
}
