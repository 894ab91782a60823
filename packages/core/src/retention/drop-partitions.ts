import type { MostDays } from '../accounts/index.ts'
import { onlyRow, openSession, type Sql } from '../platform/database/database.ts'
import { within } from '../platform/database/deadlines.ts'
import {
  deletePages,
  dropPartition,
  hasOutcomes,
  hasUnnumbered,
  hasWaiting,
  type Partition,
  selectPartitions,
} from './partitions.ts'

const DAY = 86_400_000
/** Pages of numbers deleted in one statement. */
const PAGES = 10_000
/** Advisory lock of whoever drops partitions. */
const LOCK = 7749
/** Partitions dropped in one round. */
const AT_ONCE = 12

/**
 * Drops the partitions whose every row is past its time: events after the operator's days, bodies after theirs, and what else
 * there is of messages once no outcome of theirs is among the events any more. What waits to be delivered keeps its message
 * and body. Answers the names of the tables that are gone.
 */
export async function dropPartitions(sql: Sql, most: MostDays): Promise<string[]> {
  const now = onlyRow(await sql<{ now: Date }[]>`select service_now() as now`).now.getTime()
  const partitions = await selectPartitions(sql)
  // What somebody left half way goes first: a parent has no second partition taken out while one is on its way.
  const past = [
    ...partitions.filter(({ state }) => state !== 'kept'),
    ...partitions.filter((partition) => partition.state === 'kept' && isPast(partition, most, now)),
  ]
  if (past.length === 0) return []
  const dropped: string[] = []
  // Of its own: to take a partition out concurrently needs a session without a transaction.
  const session = within(openSession(sql), 'long')
  try {
    // Held until the session ends: a round that waits for readers may take longer than the time between rounds.
    const [lock] = await session<{ taken: boolean }[]>`select pg_try_advisory_lock(${LOCK}, 0) as taken`
    if (!lock?.taken) return []
    for (const partition of past) {
      if (dropped.length === AT_ONCE) break
      if (partition.state === 'kept' && !(await isFree(sql, partition))) continue
      await dropPartition(session, partition)
      dropped.push(partition.name)
    }
    return dropped
  } finally {
    await session.end({ timeout: 1 })
  }
}

/** Whole weeks, and since the days are a week at least, never one that ensure_partitions would make again. */
function isPast({ parent, week }: Partition, { eventDays, bodyDays }: MostDays, now: number): boolean {
  const days = parent === 'bodies' ? Math.min(bodyDays, eventDays) : eventDays
  return week.getTime() + (7 + days) * DAY <= now
}

/** Would nothing be missed? Events go after the pages that number them. */
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
