import type { AnySql } from '../../platform/database/database.ts'

/** Advisory lock of the process that drops partitions. */
export const DROP_LOCK = 7749
/** Namespace of the advisory locks below; the second key is the account. */
const BODIES_LOCK = 7751

/**
 * Waits until no other transaction deletes the account's bodies or requeues its deliveries, and keeps others waiting until commit. A
 * transaction that deletes bodies because no delivery of their messages is queued calls this first. Otherwise a delivery could be requeued
 * in between, and its message would be lost. Must be called before the statement that reads the queue.
 */
export async function lockBodies(sql: AnySql, accountId: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(${BODIES_LOCK}, ${accountId}::int)`
}

/** Prevents partitions from being dropped until commit. Returns false if another process is dropping some. */
export async function keepPartitions(sql: AnySql): Promise<boolean> {
  const [row] = await sql<{ kept: boolean }[]>`select pg_try_advisory_xact_lock_shared(${DROP_LOCK}, 0) as kept`
  return row?.kept === true
}
