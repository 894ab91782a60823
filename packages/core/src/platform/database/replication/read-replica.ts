import { timerDelay } from '../../concurrency/timer-delay.ts'
import { count, type Measured, measure } from '../../metrics/metrics.ts'
import type { Log } from '../../process/log.ts'
import { answerWithin } from '../answer-within.ts'
import { onlyRow, type Sql } from '../database.ts'
import { withDeadline } from '../deadlines.ts'
import { type ReadableStandby, replayState } from '../reads.ts'

export interface ReadReplica extends ReadableStandby {
  close(): Promise<void>
}

export interface ReadReplicaOptions {
  readonly primary: Sql
  /** The pool of DATABASE_READ_URL. */
  readonly pool: Sql
  /** DATABASE_READ_MAX_LAG, in milliseconds. */
  readonly maxLag: number
  /** The primary's time. */
  readonly now: () => number
  readonly log: Log
  /** Milliseconds between two checks; default 1000. */
  readonly every?: number
}

/** Milliseconds after which a standby that does not respond is no longer read. */
const PATIENCE_MS = 1750

/** Watches the standby of DATABASE_READ_URL, so that no call waits for one that does not respond. It is read once a check has succeeded. */
export function watchReadReplica(options: ReadReplicaOptions): ReadReplica {
  const { primary, maxLag, now, log, every = 1000 } = options
  const pool = withDeadline(options.pool, 'work')
  let problem: string | undefined = 'not checked yet'
  let lag: number | undefined
  let isChecked = false
  let cluster: string | undefined
  let checking: Promise<void> | undefined
  const timer = setInterval(() => void check(), timerDelay(every))
  timer.unref()
  const endMeasuring = measure(
    (): Measured => ({ read_replica_lag_seconds: lag === undefined ? undefined : lag / 1000 }),
  )

  function check(): Promise<void> {
    checking ??= runCheck().finally(() => {
      checking = undefined
    })
    return checking
  }

  async function runCheck(): Promise<void> {
    const found = await answerWithin(findProblem(), PATIENCE_MS, options.pool).catch(() => {
      lag = undefined
      return 'no response'
    })
    if (found !== undefined && (problem === undefined || !isChecked))
      log.warn({ reason: found }, 'reading from the primary instead of the standby of DATABASE_READ_URL')
    if (found === undefined && problem !== undefined) log.info('reading from the standby of DATABASE_READ_URL')
    problem = found
    isChecked = true
  }

  async function findProblem(): Promise<string | undefined> {
    const { isStandby, replayed } = await replayState(pool)
    lag = isStandby && replayed !== null ? Math.max(0, now() - replayed) : undefined
    if (!isStandby) return 'not a standby'
    if (!(await isOfCluster())) return 'a standby of another database'
    if (lag === undefined) return 'nothing replayed since its start'
    if (lag > maxLag) return `${Math.round(lag / 1000)} s behind, which is more than DATABASE_READ_MAX_LAG`
    return undefined
  }

  /** Whether both are servers of one database cluster: otherwise accounts would be shown the data of others. */
  async function isOfCluster(): Promise<boolean> {
    cluster ??= await clusterOf(primary)
    return (await clusterOf(pool)) === cluster
  }

  void check()
  return {
    pool: () => (problem === undefined ? pool : undefined),
    maxLag,
    noteFailure: () => void check(),
    noteRead: (server) => count('old_reads_total', { server }),
    async close() {
      clearInterval(timer)
      endMeasuring()
      await options.pool.end({ timeout: 5 })
    },
  }
}

/** Returns what a server and all its standbys have in common, and no other database. */
export async function clusterOf(sql: Sql): Promise<string> {
  const rows = await sql<{ id: string }[]>`
    select concat_ws(' ', system_identifier, (select oid from pg_database where datname = current_database())) as id
      from pg_control_system()`
  return onlyRow(rows).id
}
