import { type Transferable, Worker } from 'node:worker_threads'
import { bareThread } from './bare-thread.ts'
import { timerDelay } from './timer-delay.ts'

/** The work was stopped because it exceeded a limit; `why` names the limit. */
export class ThreadStopped extends Error {
  readonly why: 'time' | 'memory' | 'busy'

  constructor(why: ThreadStopped['why']) {
    super(`a thread was stopped: ${why}`)
    this.why = why
  }
}

export interface ThreadOptions {
  readonly name: string
  readonly url: URL
  readonly workerData?: unknown
  /** Maximum size of the heap in megabytes, and of what is new in it; default 16. */
  readonly heap: number
  readonly youngHeap?: number
}

/** Starts a thread that gets nothing of the environment ({@link bareThread}). */
export function startThread({ name, url, workerData, heap, youngHeap = 16 }: ThreadOptions): Worker {
  const resourceLimits = { maxOldGenerationSizeMb: heap, maxYoungGenerationSizeMb: youngHeap, stackSizeMb: 4 }
  return new Worker(url, { ...bareThread(), name, workerData, resourceLimits })
}

export interface Reported {
  /** Processor time that the thread has used, in milliseconds. */
  readonly cpu: number
}

export interface WatchedOptions<Report extends Reported> extends ThreadOptions {
  /** Maximum processor time between two reports in milliseconds. */
  readonly mostCpu: number
  /** Maximum elapsed time between two reports in milliseconds, however little processor time it got on a busy host. */
  readonly longest?: number
  /** Milliseconds between two checks of a busy thread. */
  readonly interval: number
  readonly onReport: (report: Report) => void
  /** Called once: with ThreadStopped if a limit was exceeded, otherwise with what ended the thread. */
  readonly onEnd: (cause: Error) => void
  /** Called at each check of a busy thread. */
  readonly onCheck?: () => void
}

/** A thread that is ended if it exceeds its limits of memory or, while it is busy, of processor time. */
export interface WatchedThread<Order> {
  readonly alive: boolean
  send(order: Order, transfer?: readonly Transferable[]): void
  /** A busy thread is checked regularly and keeps the process alive. Its elapsed time starts when it becomes busy. */
  setBusy(busy: boolean): void
  stop(): Promise<void>
}

export function startWatchedThread<Order, Report extends Reported>(
  options: WatchedOptions<Report>,
): WatchedThread<Order> {
  const { mostCpu, longest = Number.POSITIVE_INFINITY, interval, onReport, onEnd, onCheck } = options
  const worker = startThread(options)
  /** Processor time at the latest report; unlimited before the first one. */
  let cpu = Number.POSITIVE_INFINITY
  /** When the latest report came, or the thread became busy. */
  let since = 0
  let alive = true
  let timer: NodeJS.Timeout | undefined
  let isChecking = false

  function end(cause: Error): void {
    if (!alive) return
    alive = false
    clearInterval(timer)
    onEnd(cause)
  }
  worker.on('message', (report: Report) => {
    cpu = report.cpu
    since = performance.now()
    onReport(report)
  })
  worker.on('error', (error: Error & { code?: string }) =>
    end(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new ThreadStopped('memory') : error),
  )
  worker.on('exit', () => end(new Error('the thread ended')))

  /** Elapsed time alone is not conclusive while others use the processor. */
  async function check(): Promise<void> {
    const [before, began] = [cpu, since]
    onCheck?.()
    // A thread does not answer while it is in native code.
    if (isChecking) return
    isChecking = true
    const { user, system } = await worker.cpuUsage().catch(() => ({ user: 0, system: 0 }))
    isChecking = false
    if (cpu !== before || since !== began || timer === undefined) return
    const tooLong = (user + system) / 1000 - before > mostCpu
    if (!tooLong && performance.now() - began <= longest) return
    end(new ThreadStopped(tooLong ? 'time' : 'busy'))
    await worker.terminate()
  }

  return {
    get alive() {
      return alive
    },
    send: (order, transfer = []) => worker.postMessage(order, [...transfer]),
    setBusy(busy) {
      clearInterval(timer)
      timer = undefined
      if (!alive) return
      if (!busy) return void worker.unref()
      worker.ref()
      since = performance.now()
      timer = setInterval(() => void check(), timerDelay(interval))
    },
    async stop() {
      await worker.terminate()
    },
  }
}
