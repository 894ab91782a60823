import { timerDelay } from '../concurrency/timer-delay.ts'
import type { Log } from './log.ts'

/** Whether a process was asked to stop. */
export interface StopState {
  /**
   * True from the request to stop on. The process may accept connections for DRAIN_DELAY longer; its clients should
   * open new ones elsewhere.
   */
  isStopping(): boolean
  /** Whether another process has taken its place on the same sockets already, so that health checks must not fail. */
  isReplaced(): boolean
}

/** The message of the supervisor that stops a process whose successor is ready. */
export const REPLACED = 'replaced' as const

export interface StopOptions {
  readonly log: Log
  /** Milliseconds between SIGTERM and the call of `close`. */
  readonly delayMs: number
  /** Milliseconds that `close` may take. */
  readonly drainMs: number
  /** Finishes the work in progress; the process exits when it resolves. */
  readonly close: () => Promise<void>
  /** Called if `close` fails. */
  readonly onError: (error: unknown) => never
}

export interface StopRequests extends StopState {
  /** From now on, SIGTERM, SIGINT, REPLACED and the loss of the supervisor stop this process. */
  handle(options: StopOptions): void
}

/**
 * Stops the process when it is asked to. SIGTERM waits for `delayMs` first. A second signal ends that wait, and SIGINT
 * (Ctrl-C) and the loss of the supervisor have none: then there is no load balancer that waits, or no one who would stop this process.
 */
export function stopRequests(): StopRequests {
  let stopping = false
  let replaced = false
  return {
    isStopping: () => stopping,
    isReplaced: () => replaced,
    handle({ log, delayMs, drainMs, close, onError }) {
      let closing = false
      const closeNow = () => {
        if (closing) return
        closing = true
        const deadline = setTimeout(() => {
          log.error('shutdown timed out with work in progress')
          process.exit(1)
        }, timerDelay(drainMs))
        deadline.unref()
        close().then(() => {
          log.info('stopped')
          process.exit(0)
        }, onError)
      }
      const stop = (why: string, afterMs: number) => {
        if (stopping) return closeNow()
        stopping = true
        log.info({ why, ...(afterMs > 0 ? { drainDelay: afterMs / 1000 } : {}) }, 'stopping')
        if (afterMs === 0) return closeNow()
        setTimeout(closeNow, timerDelay(afterMs))
      }
      process.on('SIGTERM', () => stop('SIGTERM', delayMs))
      process.on('SIGINT', () => stop('SIGINT', 0))
      process.on('message', (message) => {
        if (message !== REPLACED) return
        replaced ||= !stopping
        stop(REPLACED, 0)
      })
      process.on('disconnect', () => stop('supervisor lost', 0))
    },
  }
}
