import type { Log } from '../process/log.ts'
import { isDatabaseTrouble, type Sql } from './database.ts'
import { ensurePartitions } from './partitions.ts'

/**
 * Creates partitions, and calls each of the functions until it has nothing left to delete. In turn, so that one with much to delete delays no other,
 * and one at a time: together they opened every connection of the pool, once a minute. Throws the first failure when the others are done.
 */
export async function cleanUp(sql: Sql, forgetting: readonly (() => Promise<number>)[]): Promise<void> {
  const failures: unknown[] = []
  const deletes = (forget: () => Promise<number>) =>
    forget().then(
      (count) => count > 0,
      (error: unknown) => {
        failures.push(error)
        return false
      },
    )
  await ensurePartitions(sql).catch((error: unknown) => failures.push(error))
  for (let left = forgetting; left.length > 0; ) {
    const more: (typeof left)[number][] = []
    for (const forget of left) if (await deletes(forget)) more.push(forget)
    left = more
  }
  if (failures.length > 0) throw failures[0]
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
