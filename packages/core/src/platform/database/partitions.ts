import { databaseErrorCode, onlyRow, type Sql, type SqlTransaction } from './database.ts'

/**
 * Weeks for which partitions are created in advance: an installation whose processes were all stopped for a month can
 * still accept mail.
 */
export const WEEKS_AHEAD = 6

/**
 * Creating a partition locks its parent, and accepts queue up behind this lock request; a long reader (a dump) must not
 * block them.
 */
const LOCK_TIMEOUT = '1s'

/**
 * Creates the partitions needed in the coming weeks. Any process may call it at any time. Returns how many were
 * created.
 *
 * Throws if a long-running reader holds the lock; there are weeks left to retry.
 */
export async function ensurePartitions(sql: Sql): Promise<number> {
  return sql.begin((transaction) => ensurePartitionsIn(transaction))
}

/** Within a transaction, whose other waits for locks are then as short; `from`: instead of the present. */
export async function ensurePartitionsIn(sql: SqlTransaction, from?: Date): Promise<number> {
  await sql`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`
  return onlyRow(
    await sql<{ made: number }[]>`
      select ensure_partitions(coalesce(${from ?? null}::timestamptz, service_now()), ${WEEKS_AHEAD}) as made`,
  ).made
}

/**
 * Does what may need a partition that does not exist yet: after all processes were stopped for longer than {@link WEEKS_AHEAD}, or if the database's
 * clock has jumped. It is created, and `act`, whose transaction was rolled back, is called once more.
 */
export async function withPartitions<T>(sql: Sql, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!lacksPartition(error)) throw error
    await ensurePartitions(sql)
    return act()
  }
}

function lacksPartition(error: unknown): boolean {
  return databaseErrorCode(error) === '23514' && (error as { routine?: unknown }).routine === 'ExecFindPartition'
}
