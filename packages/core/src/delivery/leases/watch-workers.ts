import type { Sql } from '../../platform/database/database.ts'
import { withPartitions } from '../../platform/database/partitions.ts'
import { lockOf, takeOverFrom } from './lease.ts'

/**
 * Milliseconds after which a worker whose lock is free and whose heartbeat has stopped is presumed dead. A live worker needs
 * less to reconnect after a restart of the database.
 */
const DEAD_AFTER = 5000
/** Milliseconds after which a worker whose own heartbeat has not been seen to advance evaluates no other one: two heartbeats, and less than DEAD_AFTER. */
const SILENT_AFTER = 4500
/** Milliseconds after which a worker whose heartbeat has stopped is presumed hung, even if it holds its lock. */
const HUNG_AFTER = 60_000

interface Sighting {
  beat: string
  since: number
  freeSince: number | undefined
}

export interface LostWorkers {
  /** Ids of the workers that were alive at the last check, with the observer's own. */
  readonly living: readonly number[]
  /**
   * Checks all workers, takes over the deliveries of dead ones and returns their number. To be called every one or two seconds.
   */
  takeOver(): Promise<number>
}

/** The knowledge of a host about its workers, and its own steps. */
export interface WatchOptions {
  /** Called for each delivery that was set aside while it was taken over, with the id of its message. */
  readonly onSetAside?: (messageId: string, recipientNo: number) => void
  /** Whether the process of a worker has surely ended: it is then dead as soon as its lock is free. */
  readonly isGone?: (workerId: number) => boolean
  /** Called before the deliveries of dead workers are taken over. */
  readonly beforeTakeOver?: (dead: readonly number[]) => Promise<void>
}

/**
 * Observes all workers except `own`, the observer's own worker, which is evidently alive and is for others to evaluate. While its heartbeats do not
 * arrive either, it evaluates no other one: the database takes reads, but no commits, and workers that presumed each other dead would all exit.
 */
export function watchWorkers(
  sql: Sql,
  monotonic: () => number,
  own?: number,
  { onSetAside, isGone, beforeTakeOver }: WatchOptions = {},
): LostWorkers {
  let sightings = new Map<number, Sighting>()

  return {
    get living() {
      const now = monotonic()
      return [...sightings].flatMap(([id, { since, freeSince }]) =>
        id === own || (freeSince === undefined && now - since < DEAD_AFTER) ? [id] : [],
      )
    },
    async takeOver() {
      let rows: { id: number; beat: string; free: boolean }[]
      try {
        rows = await sql<{ id: number; beat: string; free: boolean }[]>`
          select w.id, w.beat, not exists (${lockOf(sql)}) as free
            from workers w`
      } catch (error) {
        // Observations from before an outage of the database do not show which workers reconnected after it.
        sightings = new Map()
        throw error
      }
      const now = monotonic()
      const dead = findDeadWorkers(rows, now).filter((id) => id !== own)
      if (isSilent(own, now)) forgetSilence(now)
      else if (dead.length > 0) return takeOverAndNotify(dead)
      return 0
    },
  }

  function isSilent(id: number | undefined, now: number): boolean {
    const sighting = id === undefined ? undefined : sightings.get(id)
    return sighting !== undefined && now - sighting.since >= SILENT_AFTER
  }

  /** Each worker has its full time again, from the last moment in which none could commit. */
  function forgetSilence(now: number): void {
    for (const [id, sighting] of sightings) {
      if (id === own) continue
      sighting.since = now
      if (sighting.freeSince !== undefined) sighting.freeSince = now
    }
  }

  async function takeOverAndNotify(dead: readonly number[]): Promise<number> {
    await beforeTakeOver?.(dead)
    const taken = await withPartitions(sql, () => sql.begin((transaction) => takeOverFrom(transaction, dead)))
    for (const { messageId, recipientNo, aside } of taken) if (aside) onSetAside?.(messageId, recipientNo)
    return taken.length
  }

  function findDeadWorkers(rows: readonly { id: number; beat: string; free: boolean }[], now: number): number[] {
    const seen = new Map<number, Sighting>()
    const dead: number[] = []
    for (const { id, beat, free } of rows) {
      const before = sightings.get(id)
      const same = before?.beat === beat
      const sighting: Sighting = {
        beat,
        since: same ? before.since : now,
        freeSince: free ? ((same ? before.freeSince : undefined) ?? now) : undefined,
      }
      seen.set(id, sighting)
      const unlocked = sighting.freeSince !== undefined && (now - sighting.freeSince >= DEAD_AFTER || isGone?.(id))
      if (unlocked || now - sighting.since >= HUNG_AFTER) dead.push(id)
    }
    sightings = seen
    return dead
  }
}
