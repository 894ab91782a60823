import type { AnySql } from '../../platform/database/database.ts'

/** Requests that wait at a time: of all accounts, and of one. */
const MOST_WAITING = 500
const MOST_OF_ACCOUNT = 5

/**
 * What a wait ended with: there is more, nothing came in time (or nobody wants it any more), or too many wait already.
 */
export type Waited = 'more' | 'over' | 'busy'

export interface Wait {
  readonly accountId: number
  /** The last number the waiting one knows. */
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
 * Lets any number of requests wait for their accounts' next events with one connection that listens and one question for all
 * of them whenever events got their numbers.
 */
export function watchEvents(sql: AnySql, listen: (onEvents: () => void) => Promise<unknown>): Watch {
  const waiting = new Map<number, Set<Waiter>>()
  let count = 0
  let listening: Promise<unknown> | undefined
  let looking = false
  let again = false

  /** Ends the waits of whom there is news for; all of them when that can't be told, so that each finds out for itself. */
  async function look(): Promise<void> {
    again = true
    if (looking) return
    looking = true
    try {
      while (again && waiting.size > 0) {
        again = false
        for (const { accountId, last } of await lastNumbers(sql, [...waiting.keys()])) endThose(accountId, last)
      }
    } catch {
      for (const accountId of waiting.keys()) endThose(accountId, Number.POSITIVE_INFINITY)
    } finally {
      looking = false
    }
  }

  function endThose(accountId: number, last: number): void {
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
      if (count >= MOST_WAITING || (waiting.get(accountId)?.size ?? 0) >= MOST_OF_ACCOUNT) return 'busy'
      let end: (waited: Waited) => void = () => {}
      const ended = new Promise<Waited>((resolve) => (end = resolve))
      const leave = enter(accountId, { after, end })
      const timer = setTimeout(() => end('over'), milliseconds)
      const abort = () => end('over')
      signal.addEventListener('abort', abort)
      try {
        listening ??= listen(() => void look())
        await Promise.race([listening, ended])
        // What came between the question before and now told nobody here.
        void look()
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

async function lastNumbers(sql: AnySql, accountIds: readonly number[]): Promise<{ accountId: number; last: number }[]> {
  return sql<{ accountId: number; last: number }[]>`
    select a.id as "accountId", p.last from unnest(${[...accountIds]}::int[]) as a(id)
     cross join lateral (
       select (first_number + count - 1)::float8 as last from event_pages
        where account_id = a.id order by first_number desc limit 1) p`
}
