import { Worker } from 'node:worker_threads'
import { bareThread, type Config } from '@postrider/core'
import type { Order, Report, Start } from './messages.ts'

/** Maximum processor time without a pause, in milliseconds: twenty times that of the most expensive body within the limits. */
const MAX_CPU_MS = 10_000
/** Milliseconds between two checks of a busy thread. */
const CHECK_INTERVAL_MS = 250
/** Megabytes of heap. The largest body of many values takes two thirds of it; the bytes of the body are outside the heap. */
const HEAP = { maxOldGenerationSizeMb: 384, maxYoungGenerationSizeMb: 48, stackSizeMb: 4 } as const

export interface LargeThread {
  send(order: Order, transfer?: readonly ArrayBuffer[]): void
  /** A busy thread is checked regularly and keeps the process alive. */
  setBusy(busy: boolean): void
  stop(): Promise<void>
}

export interface LargeThreadOptions {
  readonly config: Config
  readonly onReport: (report: Report) => void
  /** Called once. `exceeded`: a call exceeded the limit of processor time or memory. */
  readonly onEnd: (end: { readonly exceeded: boolean; readonly cause?: unknown }) => void
}

/** Starts the thread. It has nothing of the environment ({@link bareThread}): its configuration is passed by the process. */
export function startLargeThread({ config, onReport, onEnd }: LargeThreadOptions): LargeThread {
  const worker = new Worker(new URL('../large-call-thread.ts', import.meta.url), {
    ...bareThread(),
    name: 'large calls',
    resourceLimits: HEAP,
    workerData: { config } satisfies Start,
  })
  /** Processor time at the thread's last report; unknown until it has started. */
  let cpu = Number.POSITIVE_INFINITY
  let ended = false
  let timer: NodeJS.Timeout | undefined

  function end(exceeded: boolean, cause?: unknown): void {
    if (ended) return
    ended = true
    clearInterval(timer)
    onEnd({ exceeded, cause })
  }
  worker.on('message', (report: Report) => {
    cpu = report.cpu
    onReport(report)
  })
  worker.on('error', (error: Error & { code?: string }) => end(error.code === 'ERR_WORKER_OUT_OF_MEMORY', error))
  worker.on('exit', () => end(false))

  async function look(): Promise<void> {
    const before = cpu
    worker.postMessage({ kind: 'look' } satisfies Order)
    const { user, system } = await worker.cpuUsage().catch(() => ({ user: 0, system: 0 }))
    if (cpu !== before || (user + system) / 1000 - before <= MAX_CPU_MS) return
    end(true)
    await worker.terminate()
  }

  return {
    send: (order, transfer = []) => worker.postMessage(order, [...transfer]),
    setBusy(busy) {
      clearInterval(timer)
      timer = undefined
      if (ended) return
      if (!busy) return void worker.unref()
      worker.ref()
      timer = setInterval(() => void look(), CHECK_INTERVAL_MS)
    },
    async stop() {
      await worker.terminate()
    },
  }
}
