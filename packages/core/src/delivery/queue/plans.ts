import type { Sql } from '../../platform/database/database.ts'

/** Milliseconds that a queue statement with a plan by key never takes, and milliseconds between two runs of ANALYZE. */
const SLOW = 400
const PAUSE = 10_000

/**
 * Runs ANALYZE on the queue after a slow statement. After a vacuum of the empty queue the planner chooses sequential scans,
 * which cost nothing extra while it is empty. If a backlog then grows before the next autovacuum, each claim takes seconds
 * (30,000 rows: 0.7 s, 100,000 rows: 2.4 to 5 s). ANALYZE invalidates the cached plans of every session.
 */
export function watchPlans(sql: Sql): <T>(statement: () => Promise<T>) => Promise<T> {
  let analyzed = Number.NEGATIVE_INFINITY
  return async (statement) => {
    const began = performance.now()
    const result = await statement()
    const now = performance.now()
    if (now - began > SLOW && now - analyzed > PAUSE) {
      analyzed = now
      // One process at a time. A failed ANALYZE is harmless: the next slow statement triggers another one.
      await sql`analyze (skip_locked) delivery_queue`.simple().catch(() => {})
    }
    return result
  }
}
