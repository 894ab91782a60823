import type { Sql } from '../platform/database/database.ts'

/** Milliseconds after which a statement on the queue is slower than any plan by key would be, and between two new counts. */
const SLOW = 400
const PAUSE = 10_000

/**
 * Lets the database count the queue anew when a statement on it was slow. Vacuum of an empty queue leaves plans that read all of
 * it, which cost no more as long as it is empty; a backlog that comes faster than autovacuum looks then makes each claim take
 * seconds (30,000 rows: 0.7 s, 100,000: 2.4 to 5 s). ANALYZE ends the cached plans of every session.
 */
export function watchPlans(sql: Sql): <T>(statement: () => Promise<T>) => Promise<T> {
  let counted = Number.NEGATIVE_INFINITY
  return async (statement) => {
    const began = performance.now()
    const answer = await statement()
    const now = performance.now()
    if (now - began > SLOW && now - counted > PAUSE) {
      counted = now
      // One process at a time, and a lost count costs nothing: the next slow statement asks again.
      await sql`analyze (skip_locked) delivery_queue`.simple().catch(() => {})
    }
    return answer
  }
}
