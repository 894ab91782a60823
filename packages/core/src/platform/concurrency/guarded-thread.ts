import type { Transferable } from 'node:worker_threads'
import { ServiceError } from '../errors.ts'
import { Rotation } from './rotation.ts'
import { timerDelay } from './timer-delay.ts'
import { startWatchedThread, type ThreadOptions, type WatchedThread } from './watched-thread.ts'

export { ThreadStopped } from './watched-thread.ts'

/** `url` is a module that calls serveOrders. */
export interface ThreadBounds extends ThreadOptions {
  /** Maximum number of threads; none is started before there is work. */
  readonly threads: number
  /** Maximum number of waiting orders. */
  readonly waiting: number
  /** Maximum number of waiting orders of one; default `waiting`. */
  readonly each?: number
  /** Maximum processor time of an order, or of a part of it, in milliseconds. */
  readonly mostCpu: number
  /** Maximum elapsed time of the same in milliseconds, however little processor time it got on a busy host; default none. */
  readonly longest?: number
  /** Milliseconds without an order after which a thread is ended; default {@link IDLE_TIMEOUT}. */
  readonly idle?: number
}

export interface Asking<Order, Part> {
  /** Those who have orders that wait take turns. */
  readonly who?: string | undefined
  /** The objects of the order that are moved to the thread, not copied: they become unusable for the caller. */
  readonly transfer?: (order: Order) => readonly Transferable[]
  readonly onPart?: ((part: Part) => void) | undefined
  /** It continues an order that was let in, and is not refused. */
  readonly isRest?: boolean
}

/** Threads for work on untrusted input, whose cost cannot be predicted. */
export interface ThreadPool<Order, Answer, Part = never> {
  /** Runs an order. Throws ThreadStopped, `overloaded` if too many orders are waiting, and the errors of the work. */
  ask(order: Order, asking?: Asking<Order, Part>): Promise<Answer>
  /** As `ask`, with an order that is made when its turn has come. `isFirst`: the thread has had no other. Throws what `make` throws. */
  askInTurn(make: (isFirst: boolean) => Order, asking?: Asking<Order, Part>): Promise<Answer>
  close(): Promise<void>
}

/** A message from a thread: ready, a part of the result of an order, the result, or the error of an order. */
export type ThreadReport<Answer, Part> = { readonly cpu: number } & (
  | { readonly kind: 'ready' }
  | { readonly kind: 'part'; readonly part: Part }
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'error'; readonly error: unknown }
)

/** Milliseconds between two checks of a busy thread. */
const CHECK_INTERVAL = 50
/** Milliseconds after which an idle thread is stopped. */
const IDLE_TIMEOUT = 60_000

interface Waiting<Order, Answer, Part> {
  readonly make: (isFirst: boolean) => Order
  readonly asking: Asking<Order, Part>
  readonly settle: PromiseWithResolvers<Answer>
}

export function createThreadPool<Order, Answer, Part = never>(bounds: ThreadBounds): ThreadPool<Order, Answer, Part> {
  const { name, threads, waiting: most, each = most } = bounds
  const queue = new Rotation<Waiting<Order, Answer, Part>>()
  const free: GuardedThread<Order, Answer, Part>[] = []
  let running = 0
  let closed = false

  async function serve({ make, asking, settle }: Waiting<Order, Answer, Part>): Promise<void> {
    const thread = free.pop() ?? new GuardedThread<Order, Answer, Part>(bounds, removeThread)
    await thread.serve(make, asking).then(settle.resolve, settle.reject)
    if (closed) await thread.stop()
    else if (thread.alive) free.push(thread)
  }

  function removeThread(thread: GuardedThread<Order, Answer, Part>): void {
    const at = free.indexOf(thread)
    if (at !== -1) free.splice(at, 1)
  }

  function next(): void {
    while (running < threads) {
      const begun = queue.begin(threads)
      if (!begun) return
      running++
      void serve(begun.item).finally(() => {
        begun.end()
        running--
        next()
      })
    }
  }

  async function askInTurn(make: (isFirst: boolean) => Order, asking: Asking<Order, Part> = {}): Promise<Answer> {
    const { who = '', isRest = false } = asking
    if (closed) throw ending()
    if (!isRest && (queue.size >= most || queue.countOf(who) >= each)) {
      throw new ServiceError('overloaded', { reason: `queue of ${name} is full` })
    }
    const settle = Promise.withResolvers<Answer>()
    queue.push(who, { make, asking, settle })
    next()
    return settle.promise
  }

  return {
    ask: (order, asking) => askInTurn(() => order, asking),
    askInTurn,
    async close() {
      closed = true
      for (const { settle } of queue.drain()) settle.reject(ending())
      await Promise.all(free.splice(0).map((thread) => thread.stop()))
    },
  }
}

function ending(): ServiceError {
  return new ServiceError('overloaded', { reason: 'the process is ending' })
}

/** A thread that runs one order at a time. It does not keep the process alive while it is idle. */
class GuardedThread<Order, Answer, Part> {
  readonly #bounds: ThreadBounds
  readonly #thread: WatchedThread<Order>
  readonly #onEnd: (thread: GuardedThread<Order, Answer, Part>) => void
  readonly #ready = Promise.withResolvers<void>()
  #current: (PromiseWithResolvers<Answer> & Pick<Asking<Order, Part>, 'onPart'>) | undefined
  #isFirst = true
  #stopped = false
  #idle: NodeJS.Timeout | undefined

  constructor(bounds: ThreadBounds, onEnd: (thread: GuardedThread<Order, Answer, Part>) => void) {
    this.#bounds = bounds
    this.#onEnd = onEnd
    this.#thread = startWatchedThread<Order, ThreadReport<Answer, Part>>({
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

  async serve(make: (isFirst: boolean) => Order, { transfer, onPart }: Asking<Order, Part>): Promise<Answer> {
    clearTimeout(this.#idle)
    try {
      await this.#ready.promise
      const order = make(this.#isFirst)
      this.#isFirst = false
      const settle = Promise.withResolvers<Answer>()
      this.#current = { ...settle, onPart }
      this.#thread.setBusy(true)
      this.#thread.send(order, transfer?.(order))
      return await settle.promise
    } finally {
      this.#thread.setBusy(false)
      if (this.alive)
        this.#idle = setTimeout(() => void this.stop(), timerDelay(this.#bounds.idle ?? IDLE_TIMEOUT)).unref()
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    // Before it has ended, which takes milliseconds: an order that it got meanwhile would be lost.
    this.#onEnd(this)
    clearTimeout(this.#idle)
    await this.#thread.stop()
  }

  #onReport(report: ThreadReport<Answer, Part>): void {
    if (report.kind === 'ready') return void this.#ready.resolve()
    const current = this.#current
    if (report.kind === 'part') return void current?.onPart?.(report.part)
    this.#current = undefined
    if (report.kind === 'answer') current?.resolve(report.answer)
    else current?.reject(report.error)
  }

  #end(cause: Error): void {
    this.#ready.reject(cause)
    this.#current?.reject(cause)
    this.#current = undefined
    this.#onEnd(this)
  }
}
