import type { Sql, WatchedSql } from './database.ts'
import { deadlineFields } from './driver/silent-connections.ts'

/**
 * Milliseconds a statement waits for a connection, and then for any data on it, by kind of statement. A connection that
 * stays silent for longer is dropped and replaced: neither side is notified when a NAT entry is lost or an address
 * moves, and the kernel takes a quarter of an hour to detect it. A statement in progress may have been executed.
 */
export const DEADLINES = {
  /**
   * Accepts, claims, recording of results, and the lookups they need. Two of them fit into the time limit of an accept
   * (COMMIT_PATIENCE).
   */
  mail: 5000,
  /**
   * Reads and changes made by users, and steps of background work. Longer than the server's statement timeout of 15 s,
   * so that the server responds first.
   */
  work: 16_000,
  /** Migrations, recounts, imports and the removal of partitions, whose statements can take long. */
  long: 3_600_000,
} as const

/** Returns the same pool or session with the deadline of this kind of statement, or one in milliseconds. */
export function withDeadline(sql: Sql, deadline: keyof typeof DEADLINES | number): Sql {
  return (sql as WatchedSql).within(deadlineFields(typeof deadline === 'number' ? deadline : DEADLINES[deadline]))
}

/** Milliseconds since any connection of the pool received data while the pool is waiting for a response. */
export function quietFor(sql: Sql): number {
  return (sql as WatchedSql).watch.quietFor()
}
