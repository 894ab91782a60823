import { onlyRow, type Sql } from './database.ts'

/** Weeks ahead for which partitions are made: an installation whose every process stood still for a month still takes mail. */
const WEEKS_AHEAD = 6

/** A new partition locks its parent, and accepts queue up behind that wait; a long reader (a dump) must not stop them. */
const LOCK_WITHIN = '1s'

/**
 * Makes the partitions that will be needed; any process may call it at any time. Answers how many it made.
 *
 * Throws when a long reader is in the way: there are weeks to try again.
 */
export async function ensurePartitions(sql: Sql): Promise<number> {
  return sql.begin(async (transaction) => {
    await transaction`select set_config('lock_timeout', ${LOCK_WITHIN}, true)`
    return onlyRow(
      await transaction<{ made: number }[]>`select ensure_partitions(service_now(), ${WEEKS_AHEAD}) as made`,
    ).made
  })
}
