import { onlyRow, type Sql } from './database.ts'

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
  return sql.begin(async (transaction) => {
    await transaction`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`
    return onlyRow(
      await transaction<{ made: number }[]>`select ensure_partitions(service_now(), ${WEEKS_AHEAD}) as made`,
    ).made
  })
}
