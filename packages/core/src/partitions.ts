import { type AnySql, onlyRow } from './database.ts'

/** Weeks ahead for which partitions are made: an installation whose every process stood still for a month still takes mail. */
const WEEKS_AHEAD = 6

/** Makes the partitions that will be needed; any process may call it at any time. Answers how many it made. */
export async function ensurePartitions(sql: AnySql): Promise<number> {
  return onlyRow(await sql<{ made: number }[]>`select ensure_partitions(service_now(), ${WEEKS_AHEAD}) as made`).made
}
