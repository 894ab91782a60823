import type { Transferable } from 'node:worker_threads'
import { ServiceError } from '../errors.ts'
import { Rotation } from './rotation.ts'
import { timerDelay } from './timer-delay.ts'
import { startWatchedThread, type WatchedThread } from './watched-thread.ts'

export { ThreadStopped } from './watched-thread.ts'

export interface ThreadBounds {
  readonly name: string
  /** A module that calls serveOrders. */
  readonly url: URL
  /** Maximum number of threads; none is started before there is work. */
  readonly threads: number
  /** Maximum number of waiting orders. */
  readonly waiting: number
  /** Maximum processor time of an order in milliseconds. */
  readonly mostCpu: number
  /** Maximum elapsed time of an order in milliseconds, however little processor time it got on a busy host. */
  readonly longest: number
  /** Maximum heap size in megabytes. */
  readonly heap: number
  /** Milliseconds without an order after which a thread is ended; default {@link IDLE_TIMEOUT}. */
  readonly idle?: number
}

/** Threads for work on untrusted input, whose cost cannot be predicted. */
export interface ThreadPool<Order, Answer> {
  /**
   * Runs an order. Throws ThreadStopped, `overloaded` if too many orders are waiting, and the errors of the work.
   * Transferred objects become unusable for the caller. `who`: those who have orders that wait take turns.
   */
  ask(order: Order, transfer?: readonly Transferable[], who?: string): Promise<Answer>
  close(): Promise<void>
}

/** A message from a thread: ready, the result of an order, or its error. */
export type ThreadReport<Answer> =
  | { readonly kind: 'ready'; readonly cpu: number }
  | { readonly kind: 'answer'; readonly answer: Answer; readonly cpu: number }
  | { readonly kind: 'error'; readonly error: unknown; readonly cpu: number }

/** Milliseconds between two checks of a busy thread. */
const CHECK_INTERVAL = 50
/** Milliseconds after which an idle thread is stopped. */
const IDLE_TIMEOUT = 60_000

interface Waiting<Order, Answer> {
  readonly order: Order
  readonly transfer: readonly Transferable[]
  readonly settle: PromiseWithResolvers<Answer>
}

export function createThreadPool<Order, Answer>(bounds: ThreadBounds): ThreadPool<Order, Answer> {
  const queue = new Rotation<Waiting<Order, Answer>>()
  const free: GuardedThread<Order, Answer>[] = []
  let running = 0
  let closed = false

  async function serve(waiting: Waiting<Order, Answer>): Promise<void> {
    const thread = free.pop() ?? new GuardedThread<Order, Answer>(bounds, removeThread)
    try {
      waiting.settle.resolve(await thread.serve(waiting.order, waiting.transfer))
    } catch (error) {
      waiting.settle.reject(error)
    }
    if (closed) await thread.stop()
    else if (thread.alive) free.push(thread)
  }

  function removeThread(thread: GuardedThread<Order, Answer>): void {
    const at = free.indexOf(thread)
    if (at !== -1) free.splice(at, 1)
  }

  function next(): void {
    while (running < bounds.threads) {
      const begun = queue.begin(bounds.threads)
      if (!begun) return
      running++
      void serve(begun.item).finally(() => {
        begun.end()
        running--
        next()
      })
    }
  }

  return {
    ask(order, transfer = [], who = '') {
      if (closed || queue.size >= bounds.waiting) {
        return Promise.reject(new ServiceError('overloaded', { reason: `queue of ${bounds.name} is full` }))
      }
      const settle = Promise.withResolvers<Answer>()
      queue.push(who, { order, transfer, settle })
      next()
      return settle.promise
    },
    async close() {
      closed = true
      const reason = 'the process is ending'
      for (const { settle } of queue.drain()) settle.reject(new ServiceError('overloaded', { reason }))
      await Promise.all(free.splice(0).map((thread) => thread.stop()))
    },
  }
}

/** A thread that runs one order at a time. It does not keep the process alive while it is idle. */
class GuardedThread<Order, Answer> {
  readonly #bounds: ThreadBounds
  readonly #thread: WatchedThread<Order>
  readonly #onEnd: (thread: GuardedThread<Order, Answer>) => void
  readonly #ready = Promise.withResolvers<void>()
  #current: PromiseWithResolvers<Answer> | undefined
  #stopped = false
  #idle: NodeJS.Timeout | undefined

  constructor(bounds: ThreadBounds, onEnd: (thread: GuardedThread<Order, Answer>) => void) {
    this.#bounds = bounds
    this.#onEnd = onEnd
    this.#thread = startWatchedThread<Order, ThreadReport<Answer>>({
      ...bounds,
      interval: CHECK_INTERVAL,
      onReport: (report) => this.#onReport(report),
      onEnd: (cause) => this.#end(cause),
    })
    // No one may be waiting for it yet.
    this.#ready.promise.catch(() => {})
  }

  get alive(): boolean {
    return this.#thread.alive && !this.#stopped
  }

  async serve(order: Order, transfer: readonly Transferable[]): Promise<Answer> {
    clearTimeout(this.#idle)
    await this.#ready.promise
    const settle = Promise.withResolvers<Answer>()
    this.#current = settle
    this.#thread.setBusy(true)
    this.#thread.send(order, transfer)
    return settle.promise.finally(() => {
      this.#thread.setBusy(false)
      if (this.alive)
        this.#idle = setTimeout(() => void this.stop(), timerDelay(this.#bounds.idle ?? IDLE_TIMEOUT)).unref()
    })
  }

  async stop(): Promise<void> {
    this.#stopped = true
    // Before it has ended, which takes milliseconds: an order that it got meanwhile would be lost.
    this.#onEnd(this)
    clearTimeout(this.#idle)
    await this.#thread.stop()
  }

  #onReport(report: ThreadReport<Answer>): void {
    if (report.kind === 'ready') {
      this.#ready.resolve()
      return
    }
    const settle = this.#current
    this.#current = undefined
    if (report.kind === 'answer') settle?.resolve(report.answer)
    else settle?.reject(report.error)
  }

  #end(cause: Error): void {
    this.#ready.reject(cause)
    this.#current?.reject(cause)
    this.#current = undefined
    this.#onEnd(this)
  }
}
