import { Worker } from 'node:worker_threads'
import type { Log } from '../platform/log.ts'
import { BEAT_EVERY } from './lease.ts'
import { COUNTERS, type LostLease, type StandstillTimes } from './standstill.ts'

/**
 * What a worker is given until others take it for dead, and its own thread before that: others need five seconds more to see
 * that its lock is free, and 65 are promised (P6).
 */
const HUNG_AFTER = 54_000
/** Longer than a statement that takes its time, shorter than the 15 s in which mail is to flow again. */
const SILENT_AFTER = 10_000
/** Milliseconds between rounds that the main loop counts. */
const ROUND = 500
/** Megabytes of heap: it holds a connection. */
const HEAP = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 } as const

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

/** A lease that a thread keeps by its beats as long as the main loop and its work go on. */
export interface HeldLease {
  readonly workerId: number
  /** The database has answered a statement of this worker's. */
  answered(): void
  /** Gives the lease up; what is still claimed is taken over by others at once. */
  release(): Promise<void>
}

export interface LeaseOptions {
  readonly databaseUrl: string
  readonly host: string
  readonly pid: number
  readonly log: Log
  /** Nothing this worker holds is its own any more, or soon will be. */
  readonly onLost: (why: LostLease) => void
  /** For tests. */
  readonly times?: Partial<StandstillTimes>
}

/**
 * Registers a worker and beats from a thread, with a connection of its own: no message keeps the beats from going out, however
 * long it holds the main loop. Rejects when the database can't be reached.
 */
export async function holdLease({ log, onLost, times, ...who }: LeaseOptions): Promise<HeldLease> {
  const counters = new Int32Array(new SharedArrayBuffer(8))
  const data: LeaseThreadData = {
    ...{ databaseUrl: who.databaseUrl, host: who.host, pid: who.pid, counters: counters.buffer },
    times: { beatEvery: BEAT_EVERY, hungAfter: HUNG_AFTER, silentAfter: SILENT_AFTER, ...times },
  }
  const thread = new Worker(new URL('./lease-thread-body.ts', import.meta.url), {
    ...{ workerData: data, env: {}, argv: [], execArgv: [], name: 'lease', resourceLimits: HEAP },
  })
  const registered = Promise.withResolvers<number>()
  const released = Promise.withResolvers<void>()
  released.promise.catch(() => {})
  const rounds = setInterval(() => Atomics.add(counters, COUNTERS.rounds, 1), Math.min(ROUND, data.times.beatEvery))
  let ending = false
  const end = (error: Error): void => {
    registered.reject(error)
    released.reject(error)
    clearInterval(rounds)
    if (ending) return
    ending = true
    log.error({ err: error }, 'the thread that holds the lease ended')
    onLost('hung')
  }
  thread.on('error', end)
  thread.on('exit', () => end(new Error('the thread ended')))
  thread.on('message', (report: LeaseReport) => {
    if (report.kind === 'registered') registered.resolve(report.workerId)
    else if (report.kind === 'problem') log.error({ problem: report.problem }, 'a beat failed')
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
    answered: () => void Atomics.add(counters, COUNTERS.answers, 1),
    async release() {
      ending = true
      clearInterval(rounds)
      thread.postMessage('release')
      await released.promise.finally(() => thread.terminate())
    },
  }
}
