import type { Log } from '../process/log.ts'
import { isDatabaseTrouble, type Sql } from './database.ts'
import { ensurePartitions } from './partitions.ts'

/** Creates partitions, and calls each of the functions until it has nothing left to delete. */
export async function cleanUp(sql: Sql, forgetting: readonly (() => Promise<number>)[]): Promise<void> {
  const all = async (forget: () => Promise<number>) => {
    while ((await forget()) > 0);
  }
  await Promise.all([ensurePartitions(sql), ...forgetting.map(all)])
}

/**
 * Failures in a row, a minute apart, that need no one: processes that start together create partitions at the same time, and all but one
 * wait for a lock in vain. There are weeks left to create them.
 */
const PATIENCE = 5

/** Returns a function that cleans up once and never throws. */
export function loggedCleanUp(run: () => Promise<void>, log: Log): () => Promise<void> {
  let failures = 0
  return async () => {
    try {
      await run()
      failures = 0
    } catch (err) {
      failures++
      const passes = isDatabaseTrouble(err) && failures < PATIENCE
      log[passes ? 'info' : 'warn']({ err }, 'cleanup failed')
    }
  }
}
