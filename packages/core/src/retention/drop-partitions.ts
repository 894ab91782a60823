import type { MostDays } from '../accounts/index.ts'
import { DROP_LOCK } from '../delivery/queue/deletion-locks.ts'
import { onlyRow, openSession, type Sql } from '../platform/database/database.ts'
import { withDeadline } from '../platform/database/deadlines.ts'
import {
  deletePages,
  dropPartition,
  hasOutcomes,
  hasUnnumbered,
  hasWaiting,
  type Partition,
  selectPartitions,
  unmarkPartition,
} from './partitions.ts'

const DAY = 86_400_000
/** Pages of sequence numbers deleted in one statement. */
const PAGES = 10_000
/** Maximum number of partitions dropped in one round: two weeks of seven tables. */
const MAX_DROPPED = 14

/**
 * Drops the partitions in which every row has expired: events and bodies after the operator's retention periods, and other tables
 * of messages once none of their outcome events is retained. Messages and bodies of queued deliveries are kept. Returns the names
 * of the dropped tables.
 */
export async function dropPartitions(sql: Sql, most: MostDays): Promise<string[]> {
  const now = onlyRow(await sql<{ now: Date }[]>`select service_now() as now`).now.getTime()
  const partitions = await selectPartitions(sql)
  // Unfinished drops come first: a second partition cannot be detached while another detach of the same parent is pending.
  const past = [
    ...partitions.filter(({ state }) => state !== 'kept'),
    ...partitions.filter((partition) => partition.state === 'kept' && isPast(partition, most, now)),
  ]
  if (past.length === 0) return []
  const dropped: string[] = []
  // A separate session, because a partition cannot be detached concurrently within a transaction.
  const session = withDeadline(openSession(sql), 'long')
  try {
    // Held until the session ends, because a round that waits for readers may last longer than the interval between rounds.
    const [lock] = await session<{ taken: boolean }[]>`select pg_try_advisory_lock(${DROP_LOCK}, 0) as taken`
    if (!lock?.taken) return []
    for (const partition of past) {
      if (dropped.length === MAX_DROPPED) break
      // Also one that is only marked: mail of its week may have been requeued since.
      if (partition.state === 'kept' && !(await isFree(sql, partition))) {
        if (partition.isMarked) await unmarkPartition(session, partition)
        continue
      }
      await dropPartition(session, partition)
      dropped.push(partition.name)
    }
    return dropped
  } finally {
    await session.end({ timeout: 1 })
  }
}

/** Only whole weeks expire. Retention is at least a week, so ensure_partitions never creates a dropped partition again. */
function isPast({ parent, week }: Partition, { eventDays, bodyDays }: MostDays, now: number): boolean {
  const days = parent === 'bodies' ? Math.min(bodyDays, eventDays) : eventDays
  return week.getTime() + (7 + days) * DAY <= now
}

/** Returns whether a partition can be dropped. For events, first deletes the pages with their sequence numbers. */
async function isFree(sql: Sql, partition: Partition): Promise<boolean> {
  if (partition.by === 'message') {
    if (await hasWaiting(sql, partition)) return false
    return partition.parent === 'bodies' || !(await hasOutcomes(sql, partition))
  }
  if (partition.parent !== 'events') return true
  if (await hasUnnumbered(sql, partition)) return false
  while ((await deletePages(sql, partition, PAGES)) === PAGES);
  return true
}
