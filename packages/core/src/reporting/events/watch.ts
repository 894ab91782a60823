import { timerDelay } from '../../platform/concurrency/timer-delay.ts'
import type { AnySql } from '../../platform/database/database.ts'
import { lastNumbers } from './last-numbers.ts'

/** Maximum number of waiting requests, in total and per account. */
const MAX_WAITING = 500
const MAX_WAITING_PER_ACCOUNT = 5

/**
 * The result of a wait: there are new events, the time is over (or the request was aborted), or too many requests wait already.
 */
export type Waited = 'more' | 'over' | 'busy'

export interface Wait {
  readonly accountId: number
  /** The last sequence number that the waiting client knows. */
  readonly after: number
  readonly milliseconds: number
  readonly signal: AbortSignal
}

export interface Watch {
  wait(wait: Wait): Promise<Waited>
}

interface Waiter {
  readonly after: number
  readonly end: (waited: Waited) => void
}

/**
 * Lets requests wait for the next events of their accounts. All of them share one listening connection, and one query whenever
 * events get sequence numbers.
 */
export function watchEvents(sql: AnySql, listen: (onEvents: () => void) => Promise<unknown>): Watch {
  const waiting = new Map<number, Set<Waiter>>()
  let count = 0
  let listening: Promise<unknown> | undefined
  let querying = false
  let again = false

  /** Ends the waits of accounts with new events. If the query fails, ends all waits, so that each request queries by itself. */
  async function notifyWaiters(): Promise<void> {
    again = true
    if (querying) return
    querying = true
    try {
      while (again && waiting.size > 0) {
        again = false
        for (const { accountId, last } of await lastNumbers(sql, [...waiting.keys()])) endWaits(accountId, last)
      }
    } catch {
      for (const accountId of waiting.keys()) endWaits(accountId, Number.POSITIVE_INFINITY)
    } finally {
      querying = false
    }
  }

  function endWaits(accountId: number, last: number): void {
    for (const waiter of waiting.get(accountId) ?? []) if (waiter.after < last) waiter.end('more')
  }

  function enter(accountId: number, waiter: Waiter): () => void {
    const own = waiting.get(accountId) ?? new Set()
    waiting.set(accountId, own.add(waiter))
    count++
    return () => {
      if (!own.delete(waiter)) return
      count--
      if (own.size === 0 && waiting.get(accountId) === own) waiting.delete(accountId)
    }
  }

  return {
    async wait({ accountId, after, milliseconds, signal }) {
      if (signal.aborted || milliseconds <= 0) return 'over'
      if (count >= MAX_WAITING || (waiting.get(accountId)?.size ?? 0) >= MAX_WAITING_PER_ACCOUNT) return 'busy'
      let end: (waited: Waited) => void = () => {}
      const ended = new Promise<Waited>((resolve) => (end = resolve))
      const leave = enter(accountId, { after, end })
      const timer = setTimeout(() => end('over'), timerDelay(milliseconds))
      const abort = () => end('over')
      signal.addEventListener('abort', abort)
      try {
        listening ??= listen(() => void notifyWaiters())
        await Promise.race([listening, ended])
        // Events that arrived between the caller's query and this wait did not notify it.
        void notifyWaiters()
        return await ended
      } catch (error) {
        listening = undefined
        throw error
      } finally {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
        leave()
      }
    },
  }
}
