import { type Transferable, Worker } from 'node:worker_threads'
import { ServiceError } from '../errors.ts'

/** Work that came to no end within its bounds, and why. */
export class ThreadStopped extends Error {
  readonly why: 'time' | 'memory' | 'busy'

  constructor(why: ThreadStopped['why']) {
    super(`a thread was stopped: ${why}`)
    this.why = why
  }
}

export interface ThreadBounds {
  readonly name: string
  /** A module that calls serveOrders. */
  readonly url: URL
  /** Threads at most; none is started before there is work. */
  readonly threads: number
  /** Orders that may wait. */
  readonly waiting: number
  /** Milliseconds of computing one order may take. */
  readonly mostCpu: number
  /** Milliseconds on the clock, however little it got to compute: the host is busy, but nothing waits for ever. */
  readonly longest: number
  /** Megabytes of heap. */
  readonly heap: number
}

/** Threads for work on what others wrote, whose cost nobody can tell before. */
export interface ThreadPool<Order, Answer> {
  /** Throws ThreadStopped, overloaded when too many wait, and what the work threw. What is transferred is gone here. */
  ask(order: Order, transfer?: readonly Transferable[]): Promise<Answer>
  close(): Promise<void>
}

/** What a thread says: that it is ready, what came of an order, or what the order threw. */
export type ThreadReport<Answer> =
  | { readonly kind: 'ready'; readonly cpu: number }
  | { readonly kind: 'answer'; readonly answer: Answer; readonly cpu: number }
  | { readonly kind: 'error'; readonly error: unknown; readonly cpu: number }

/** Milliseconds between two looks at a thread that is busy. */
const LOOK = 50
/** Milliseconds after which a thread without work ends. */
const IDLE = 60_000

interface Waiting<Order, Answer> {
  readonly order: Order
  readonly transfer: readonly Transferable[]
  readonly settle: PromiseWithResolvers<Answer>
}

export function createThreadPool<Order, Answer>(bounds: ThreadBounds): ThreadPool<Order, Answer> {
  const queue: Waiting<Order, Answer>[] = []
  const free: GuardedThread<Order, Answer>[] = []
  let running = 0
  let closed = false

  async function serve(waiting: Waiting<Order, Answer>): Promise<void> {
    const thread = free.pop() ?? new GuardedThread<Order, Answer>(bounds, forget)
    try {
      waiting.settle.resolve(await thread.serve(waiting.order, waiting.transfer))
    } catch (error) {
      waiting.settle.reject(error)
    }
    if (closed) await thread.stop()
    else if (thread.alive) free.push(thread)
  }

  function forget(thread: GuardedThread<Order, Answer>): void {
    const at = free.indexOf(thread)
    if (at !== -1) free.splice(at, 1)
  }

  function next(): void {
    while (queue.length > 0 && running < bounds.threads) {
      running++
      void serve(queue.shift() as Waiting<Order, Answer>).finally(() => {
        running--
        next()
      })
    }
  }

  return {
    ask(order, transfer = []) {
      if (closed || queue.length >= bounds.waiting) {
        return Promise.reject(new ServiceError('overloaded', { reason: `too much waits for ${bounds.name}` }))
      }
      const settle = Promise.withResolvers<Answer>()
      queue.push({ order, transfer, settle })
      next()
      return settle.promise
    },
    async close() {
      closed = true
      const reason = 'the process is ending'
      for (const { settle } of queue.splice(0)) settle.reject(new ServiceError('overloaded', { reason }))
      await Promise.all(free.splice(0).map((thread) => thread.stop()))
    },
  }
}

/** One thread, which serves one order at a time. It has no environment and no arguments, and keeps no process alive. */
class GuardedThread<Order, Answer> {
  alive = true
  readonly #bounds: ThreadBounds
  readonly #worker: Worker
  readonly #ready = Promise.withResolvers<void>()
  #current: PromiseWithResolvers<Answer> | undefined
  /** What it had computed when the order in hand began. */
  #cpu = 0
  #began = 0
  #idle: NodeJS.Timeout | undefined

  constructor(bounds: ThreadBounds, onEnd: (thread: GuardedThread<Order, Answer>) => void) {
    this.#bounds = bounds
    const limits = { maxOldGenerationSizeMb: bounds.heap, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 }
    this.#worker = new Worker(bounds.url, {
      ...{ env: {}, argv: [], execArgv: [], name: bounds.name, resourceLimits: limits },
    })
    this.#worker.on('message', (report: ThreadReport<Answer>) => this.#heard(report))
    this.#worker.on('error', (error: Error & { code?: string }) =>
      this.#end(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new ThreadStopped('memory') : error),
    )
    this.#worker.on('exit', () => {
      this.#end(new Error('the thread ended'))
      onEnd(this)
    })
    // Nobody may have asked yet.
    this.#ready.promise.catch(() => {})
  }

  async serve(order: Order, transfer: readonly Transferable[]): Promise<Answer> {
    clearTimeout(this.#idle)
    this.#worker.ref()
    await this.#ready.promise
    const settle = Promise.withResolvers<Answer>()
    this.#current = settle
    this.#began = performance.now()
    const watching = setInterval(() => void this.#watch(), LOOK)
    this.#worker.postMessage(order, transfer)
    return settle.promise.finally(() => {
      clearInterval(watching)
      this.#worker.unref()
      if (this.alive) this.#idle = setTimeout(() => void this.stop(), IDLE).unref()
    })
  }

  async stop(): Promise<void> {
    this.alive = false
    clearTimeout(this.#idle)
    await this.#worker.terminate()
  }

  #heard(report: ThreadReport<Answer>): void {
    this.#cpu = report.cpu
    if (report.kind === 'ready') {
      this.#ready.resolve()
      return
    }
    const settle = this.#current
    this.#current = undefined
    if (report.kind === 'answer') settle?.resolve(report.answer)
    else settle?.reject(report.error)
  }

  #end(error: Error): void {
    this.alive = false
    this.#ready.reject(error)
    this.#current?.reject(error)
    this.#current = undefined
  }

  /** Stops work that computes too long. Time on the clock alone says nothing where others want the processor. */
  async #watch(): Promise<void> {
    const watched = this.#current
    const before = this.#cpu
    const { user, system } = await this.#worker.cpuUsage().catch(() => ({ user: 0, system: 0 }))
    if (!watched || this.#current !== watched) return
    const tooLong = (user + system) / 1000 - before > this.#bounds.mostCpu
    if (!tooLong && performance.now() - this.#began <= this.#bounds.longest) return
    this.#end(new ThreadStopped(tooLong ? 'time' : 'busy'))
    await this.#worker.terminate()
  }
}
