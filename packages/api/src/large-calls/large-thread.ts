import { type Config, startWatchedThread, ThreadStopped, type WatchedThread } from '@postrider/core'
import type { Order, Report, Start } from './messages.ts'

/** Maximum processor time without a pause, in milliseconds: twenty times that of the most expensive body within the limits. */
const MAX_CPU_MS = 10_000
/** Milliseconds between two checks of a busy thread. */
const CHECK_INTERVAL_MS = 250

export type LargeThread = WatchedThread<Order>

export interface LargeThreadOptions {
  readonly config: Config
  readonly onReport: (report: Report) => void
  /** Called once. `exceeded`: a call exceeded the limit of processor time or memory. */
  readonly onEnd: (end: { readonly exceeded: boolean; readonly cause: unknown }) => void
}

/** Starts the thread, to which the process passes its configuration. While it is busy it must report that it is not computing. */
export function startLargeThread({ config, onReport, onEnd }: LargeThreadOptions): LargeThread {
  const thread: LargeThread = startWatchedThread<Order, Report>({
    name: 'large calls',
    url: new URL('../large-call-thread.ts', import.meta.url),
    workerData: { config } satisfies Start,
    // The largest body of many values takes two thirds of it; the bytes of the body are outside the heap.
    heap: 384,
    youngHeap: 48,
    mostCpu: MAX_CPU_MS,
    interval: CHECK_INTERVAL_MS,
    onReport,
    onCheck: () => thread.send({ kind: 'look' }),
    onEnd: (cause) => onEnd({ exceeded: cause instanceof ThreadStopped, cause }),
  })
  return thread
}
