import { isTimeout, onlyRow, type Sql, type SqlTransaction } from './database.ts'

/**
 * The reads of one call that need not see what was committed last. A standby (DATABASE_READ_URL) may answer any function that takes one, so the
 * answer may be some seconds old. A read that must see its caller's own change takes the pool of the primary instead.
 */
export interface Reads {
  /**
   * Calls `read` with a transaction in which all statements see one snapshot, none older than that of an earlier read of the call. `read` must
   * only read: if it fails on the standby, it is called again with the primary.
   */
  snapshot<T>(read: (snapshot: SqlTransaction) => Promise<T>, needs?: ReadNeeds): Promise<T>
  /** As of when the answers are: all that was committed before is in them. Undefined if all are from the primary. */
  asOf(): Date | undefined
  /** No answer contains what was committed later. Undefined without a standby. In milliseconds since 1970. */
  seenUntil(): number | undefined
}

/** Conditions on a snapshot of the standby; if one is not met, the primary is read. */
export interface ReadNeeds {
  /** Everything that was committed before. In milliseconds since 1970. */
  readonly committedBefore?: number | undefined
  /** Whether a snapshot of the standby contains it. It is given a second to get there. */
  readonly holds?: (snapshot: SqlTransaction) => Promise<boolean>
}

/** A standby that can be read. */
export interface ReadableStandby {
  /** Undefined while it does not respond, or lags too far behind. */
  pool(): Sql | undefined
  /** How many milliseconds behind the primary an answer may be. */
  readonly maxLag: number
  /** Reports that a read failed there. */
  noteFailure(): void
  /** Counts where a read was answered. */
  noteRead(server: 'standby' | 'primary'): void
}

export interface ReadsDependencies {
  readonly primary: Sql
  readonly standby: ReadableStandby | undefined
  /** The primary's time. */
  readonly now: () => number
}

const SNAPSHOT = 'isolation level repeatable read read only'
/**
 * A commit gets its time before its place in the WAL, by the microseconds of a commit or as long as the process is not scheduled in between.
 * So when the standby has replayed a commit of one moment, one of a moment before may be missing.
 */
const DISORDER_MS = 1000
/** How often a snapshot that does not yet contain what is needed is taken again, and after how many milliseconds. */
const RETRIES = { count: 10, everyMs: 100 } as const

/** The standby's snapshot is too old for this read. */
class TooOld extends Error {}
/** The same, but not by much. */
class NotYet extends TooOld {}

/** Returns the reads of one call. */
export function createReads({ primary, standby, now }: ReadsDependencies): Reads {
  let isOnPrimary = standby === undefined
  /** Time of the last commit that the oldest, and the latest, snapshot of the standby contains. */
  let oldest: number | undefined
  let latest = 0
  let seenUntil: number | undefined

  async function onStandby<T>(
    { maxLag }: ReadableStandby,
    pool: Sql,
    read: (snapshot: SqlTransaction) => Promise<T>,
    { committedBefore = 0, holds }: ReadNeeds,
  ): Promise<T> {
    return pool.begin(SNAPSHOT, async (snapshot) => {
      // Asked by each snapshot, since connections of one pool may lead to different standbys.
      const { isStandby, replayed } = await replayState(snapshot)
      if (!isStandby || replayed === null || now() - replayed > maxLag) throw new TooOld()
      if (replayed < latest || (committedBefore > 0 && replayed < committedBefore + DISORDER_MS)) throw new TooOld()
      if (holds && !(await holds(snapshot))) throw new NotYet()
      const result = await read(snapshot)
      oldest = Math.min(oldest ?? replayed, replayed)
      latest = replayed
      seenUntil = Math.max(seenUntil ?? 0, replayed)
      return result
    }) as Promise<T>
  }

  async function tryStandby<T>(
    standby: ReadableStandby,
    read: (snapshot: SqlTransaction) => Promise<T>,
    needs: ReadNeeds,
  ): Promise<{ readonly result: T } | undefined> {
    for (let tried = 0; ; tried++) {
      const pool = standby.pool()
      if (pool === undefined) return undefined
      try {
        return { result: await onStandby(standby, pool, read, needs) }
      } catch (error) {
        if (error instanceof NotYet && tried < RETRIES.count) {
          await new Promise((resolve) => setTimeout(resolve, RETRIES.everyMs))
          continue
        }
        // The primary would take as long, and it is the one that mail needs.
        if (isTimeout(error)) throw error
        if (!(error instanceof TooOld)) standby.noteFailure()
        return undefined
      }
    }
  }

  return {
    async snapshot<T>(read: (snapshot: SqlTransaction) => Promise<T>, needs: ReadNeeds = {}) {
      const found = isOnPrimary || !standby ? undefined : await tryStandby(standby, read, needs)
      if (found) {
        standby?.noteRead('standby')
        return found.result
      }
      // For the rest of the call: an answer of the standby would be older.
      isOnPrimary = true
      const result = (await primary.begin(SNAPSHOT, read)) as T
      if (standby) {
        standby.noteRead('primary')
        seenUntil = now()
      }
      return result
    },
    // Cut to the second, which covers nearly all of the disorder of commits.
    asOf: () => (oldest === undefined ? undefined : new Date(Math.floor(oldest / 1000) * 1000)),
    seenUntil: () => seenUntil,
  }
}

export interface ReplayState {
  readonly isStandby: boolean
  /** Time of the last commit that has been replayed, in milliseconds since 1970; null if none has since the start. */
  readonly replayed: number | null
}

/** Reads how far a standby is. The primary's heartbeats make this advance, even if no mail flows. */
export async function replayState(sql: Sql | SqlTransaction): Promise<ReplayState> {
  return onlyRow(
    await sql<ReplayState[]>`
      select pg_is_in_recovery() as "isStandby",
             (extract(epoch from pg_last_xact_replay_timestamp()) * 1000)::float8 as replayed`,
  )
}
