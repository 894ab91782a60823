import { timerDelay } from '../../platform/concurrency/timer-delay.ts'
import { startThread } from '../../platform/concurrency/watched-thread.ts'
import type { Log } from '../../platform/process/log.ts'
import { BEAT_EVERY } from './lease.ts'
import { COUNTERS, type LostLease, type StandstillTimes } from './standstill.ts'

/**
 * Milliseconds without progress of the main loop after which the thread gives the lease up. Other workers presume this one dead
 * later: they need five seconds more to see that its lock is free. Recovery within 65 seconds is promised (P6).
 */
const HUNG_AFTER = 54_000
/** Milliseconds. Longer than a slow statement, shorter than the 15 s within which mail must flow again. */
const SILENT_AFTER = 10_000
/** Milliseconds between increments of the main loop's round counter. */
const ROUND = 500
/** Megabytes of heap. The thread needs little more than a connection. */
const HEAP = { heap: 32, youngHeap: 4 } as const

export interface LeaseThreadData {
  readonly databaseUrl: string
  readonly host: string
  readonly pid: number
  readonly counters: SharedArrayBuffer
  readonly times: StandstillTimes
}

export type LeaseReport =
  | { readonly kind: 'registered'; readonly workerId: number }
  | { readonly kind: 'failed' | 'problem'; readonly problem: string }
  | { readonly kind: 'lost'; readonly why: LostLease }
  | { readonly kind: 'released'; readonly problem?: string }

/** A lease that a thread renews by heartbeats as long as the main loop and its work make progress. */
export interface HeldLease {
  readonly workerId: number
  /** Records that the database completed a statement of this worker. */
  answered(): void
  /** Releases the lease. Other workers immediately take over deliveries that are still claimed. */
  release(): Promise<void>
}

export interface LeaseOptions {
  readonly databaseUrl: string
  readonly host: string
  readonly pid: number
  readonly log: Log
  /** Called when the lease is lost: other workers have taken over this worker's deliveries, or soon will. */
  readonly onLost: (why: LostLease) => void
  /** For tests. */
  readonly times?: Partial<StandstillTimes>
}

/**
 * Registers a worker and sends its heartbeats from a thread with its own connection, so that a message that blocks the main
 * loop does not delay them. Rejects if the database cannot be reached.
 */
export async function holdLease({ log, onLost, times, ...who }: LeaseOptions): Promise<HeldLease> {
  const counters = new Int32Array(new SharedArrayBuffer(8))
  const data: LeaseThreadData = {
    databaseUrl: who.databaseUrl,
    host: who.host,
    pid: who.pid,
    counters: counters.buffer,
    times: { beatEvery: BEAT_EVERY, hungAfter: HUNG_AFTER, silentAfter: SILENT_AFTER, ...times },
  }
  // Not a watched one: it watches this process.
  const thread = startThread({
    name: 'lease',
    url: new URL('./lease-thread-body.ts', import.meta.url),
    workerData: data,
    ...HEAP,
  })
  const registered = Promise.withResolvers<number>()
  const released = Promise.withResolvers<void>()
  released.promise.catch(() => {})
  const rounds = setInterval(
    () => Atomics.add(counters, COUNTERS.rounds, 1),
    timerDelay(Math.min(ROUND, data.times.beatEvery)),
  )
  let ending = false
  const end = (error: Error): void => {
    registered.reject(error)
    released.reject(error)
    clearInterval(rounds)
    if (ending) return
    ending = true
    log.error({ err: error }, 'lease thread exited')
    onLost('hung')
  }
  thread.on('error', end)
  thread.on('exit', () => end(new Error('lease thread exited')))
  thread.on('message', (report: LeaseReport) => {
    if (report.kind === 'registered') registered.resolve(report.workerId)
    else if (report.kind === 'problem') log.error({ problem: report.problem }, 'heartbeat failed')
    else if (report.kind === 'lost') {
      ending = true
      clearInterval(rounds)
      void thread.terminate()
      onLost(report.why)
    } else if (report.kind === 'released' && report.problem === undefined) released.resolve()
    else {
      ending = true
      registered.reject(new Error(report.problem))
      released.reject(new Error(report.problem))
    }
  })
  const workerId = await registered.promise
  return {
    workerId,
    answered: () => void Atomics.add(counters, COUNTERS.statements, 1),
    async release() {
      ending = true
      clearInterval(rounds)
      thread.postMessage('release')
      await released.promise.finally(() => thread.terminate())
    },
  }
}
