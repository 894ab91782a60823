import type { Sql } from './database.ts'
import { ensurePartitions } from './partitions.ts'

/** Creates partitions, and calls each of the functions until it has nothing left to delete. */
export async function cleanUp(sql: Sql, forgetting: readonly (() => Promise<number>)[]): Promise<void> {
  const all = async (forget: () => Promise<number>) => {
    while ((await forget()) > 0);
  }
  await Promise.all([ensurePartitions(sql), ...forgetting.map(all)])
}
