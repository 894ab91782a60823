import { insertEvents } from '../../events/insert-events.ts'
import { within } from '../../platform/concurrency/timer-delay.ts'
import { type AnySql, openSession, type Sql, type SqlTransaction } from '../../platform/database/database.ts'
import { INDETERMINATE_WAIT_SECONDS } from '../outcomes/schedule.ts'
import { evaluatedAside } from '../outcomes/set-aside.ts'

/**
 * There is one lease per worker, not one per row: a claimed delivery carries the id of its worker, and the worker proves that it
 * is alive in two ways. It holds an advisory lock in a dedicated session; when the process dies, the kernel closes the
 * connection and the lock is freed within milliseconds. It also advances a heartbeat counter, which stops if the worker hangs.
 * Observers evaluate both by their own monotonic clocks, so a clock that jumps cannot make a lease expire. The heartbeats come from
 * a thread (lease-thread.ts), which stops them when the main loop makes no progress.
 */
const LOCK_SPACE = 7741
/** Milliseconds between heartbeats. */
export const BEAT_EVERY = 2000
/** Milliseconds after which a heartbeat without response is abandoned together with its connection. */
const BEAT_TIMEOUT = 3000
/** A delivery whose workers died this often may be the cause: from then on it waits before the next attempt. */
const ABANDONED_LIMIT = 3

export interface WorkerLease {
  readonly workerId: number
  /**
   * Sends a heartbeat. Returns false if another worker has taken over this worker's deliveries. Throws if the database is
   * unavailable.
   */
  beat(): Promise<boolean>
  /** Releases the lease. Other workers immediately take over deliveries that are still claimed. */
  release(): Promise<void>
  /** Closes the session, which frees the lock immediately, and leaves the worker's row in place. */
  abandon(): Promise<void>
}

/** Registers a worker and takes its lock. Throws if the database is unavailable. */
export async function registerWorker(sql: Sql, worker: { host: string; pid: number }): Promise<WorkerLease> {
  let session = openSession(sql)
  // The lock is taken before the row becomes visible, so no observer sees a live worker without its lock.
  const [{ id }] = await session<[{ id: number }]>`
    with registered as (insert into workers (host, pid) values (${worker.host}, ${worker.pid}) returning id)
    select id, pg_advisory_lock(${LOCK_SPACE}, id) from registered`

  return {
    workerId: id,
    async beat() {
      // Every heartbeat takes the lock; in a session that already holds it, this only increments the lock count. A session that
      // replaces a lost one therefore holds the lock from its first heartbeat, before observers presume this worker dead.
      const beating = session`
        with locked as materialized (select pg_try_advisory_lock(${LOCK_SPACE}, ${id}::int))
        update workers set beat = beat + 1 from locked where id = ${id} returning 1`
      const rows = await within(BEAT_TIMEOUT, beating)
      if (rows) return rows.length > 0
      // The connection is silently broken; a new session succeeds or fails sooner.
      void session.end({ timeout: 0 })
      session = openSession(sql)
      throw Object.assign(new Error('heartbeat timed out'), { code: 'ETIMEDOUT' })
    },
    async release() {
      await session`delete from workers where id = ${id} and not exists (select 1 from delivery_queue where worker_id = ${id})`
      await session.end({ timeout: 5 })
    },
    abandon: () => session.end({ timeout: 0 }),
  }
}

/** Returns the number of workers; one that has died counts until its deliveries are taken over. */
export async function countWorkers(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int from workers`
  return row?.count ?? 0
}

/** Returns whether a worker on this host holds its lock. */
export async function isWorkerAlive(sql: Sql, host: string): Promise<boolean> {
  const rows = await sql`select 1 from workers w where w.host = ${host} and exists (${lockOf(sql)}) limit 1`
  return rows.length > 0
}

/** Returns the ids of the workers, on any host, that hold their locks. */
export async function livingWorkers(sql: AnySql): Promise<Set<number>> {
  const rows = await sql<{ id: number }[]>`select w.id from workers w where exists (${lockOf(sql)})`
  return new Set(rows.map(({ id }) => id))
}

/** A delivery worker that is registered. */
export interface WorkerSummary {
  readonly id: number
  readonly host: string
  readonly pid: number
  readonly startedAt: Date
  /** Whether it holds its lock: if not, it is dead, or reconnects; others take over its deliveries. */
  readonly alive: boolean
  /** A counter that it advances every two seconds while it works. */
  readonly beat: string
  /** Connections to providers and sites. */
  readonly connections: number
  /** Deliveries that it has claimed; counted up to 20,000. */
  readonly inFlight: number
  /** Names of the source addresses of its host. */
  readonly sources: readonly string[]
}

const MAX_LISTED = 500

/** Returns the workers, the oldest first. */
export async function listWorkers(sql: AnySql): Promise<WorkerSummary[]> {
  return sql<WorkerSummary[]>`
    select w.id, w.host, w.pid, w.started_at as "startedAt", exists (${lockOf(sql)}) as alive, w.beat::text as beat,
           (select count(*)::int from connection_slots s where s.worker_id = w.id) as connections,
           (select count(*)::int from (select from delivery_queue q where q.worker_id = w.id limit 20000) c) as "inFlight",
           array(select s.name from source_workers sw join sources s on s.id = sw.source_id where sw.worker_id = w.id order by s.name) as sources
      from workers w order by w.id limit ${MAX_LISTED}`
}

/** Returns the counters that workers advance every two seconds, by worker. */
export async function readHeartbeats(sql: AnySql): Promise<Map<number, string>> {
  const rows = await sql<
    { id: number; beat: string }[]
  >`select id, beat::text from workers order by id limit ${MAX_LISTED}`
  return new Map(rows.map(({ id, beat }) => [id, beat]))
}

/** The lock of worker `w`. Workers of other databases of the same server may have the same ids. */
export function lockOf(sql: AnySql): ReturnType<AnySql> {
  return sql`
    select 1 from pg_locks l
     where l.locktype = 'advisory' and l.classid = ${LOCK_SPACE}::oid and l.objid = w.id::oid and l.objsubid = 2
       and l.database = (select oid from pg_database where datname = current_database())`
}

/** A delivery that was taken over. */
export interface Taken {
  readonly messageId: string
  readonly recipientNo: number
  readonly aside: boolean
}

/**
 * Requeues the deliveries of dead workers. Before end of data (the final dot) nothing can have been delivered, so they are due
 * immediately. After it the outcome is unknown: the attempt is indeterminate, and the next one uses the same host, after five
 * minutes at the earliest (RFC 1047).
 */
export async function takeOverFrom(sql: SqlTransaction, suspects: readonly number[]): Promise<readonly Taken[]> {
  // Waits for a claim of these workers that is committing, so that the next statement sees the claimed deliveries, and for
  // another observer, which leaves nothing to do.
  const dead = (
    await sql<{ id: number }[]>`select id from workers where id = any(${[...suspects]}::int[]) for update`
  ).map(({ id }) => id)
  if (dead.length === 0) return []
  const aside = evaluatedAside(sql)
  return sql<Taken[]>`
    with taken as (
      update delivery_queue q
         set worker_id = null, abandoned = q.abandoned + 1, dot_at = null, dot_host = null, ${aside.columns},
             state = case when q.dot_at is null and q.attempt = 1 then 'queued' else 'deferred' end,
             only_host = case when q.dot_at is null then q.only_host else q.dot_host end,
             next_at = case ${aside.nextAt}
                            when old.dot_at is not null
                              then old.dot_at + make_interval(secs => ${INDETERMINATE_WAIT_SECONDS})
                            when old.abandoned + 1 >= ${ABANDONED_LIMIT} then service_now() + interval '5 minutes'
                            else service_now() end
        from (select message_id, recipient_no, dot_at, dot_host, worker_id, abandoned, alone, blamed from delivery_queue
               where worker_id = any(${dead}::int[]) for update) old
       where q.message_id = old.message_id and q.recipient_no = old.recipient_no
      returning q.message_id, q.recipient_no, q.account_id, q.attempt, old.worker_id, old.dot_at, old.dot_host,
                q.set_aside
    ), new_attempts as (
      insert into attempts (message_id, recipient_no, attempt, account_id, worker_id, outcome, indeterminate, started_at,
             milliseconds, stage, host, reply)
      select message_id, recipient_no, attempt, account_id, worker_id,
             case when dot_at is null then 'abandoned' else 'deferred' end, dot_at is not null,
             coalesce(dot_at, service_now()), 0, case when dot_at is not null then 'dot' end, dot_host,
             case when dot_at is null then 'the worker died before the message was sent'
                  else 'the worker died after end of data; the remote server may have the message' end
        from taken
      on conflict do nothing
    ), new_events as (
      ${insertEvents(sql, {
        from: sql`taken where dot_at is not null`,
        type: 'deferred',
        detail: sql`jsonb_build_object('attempt', attempt, 'indeterminate', true, 'host', dot_host)`,
      })}
    ), deleted_workers as (
      delete from workers where id = any(${dead}::int[])
    ), freed_slots as (
      delete from connection_slots where worker_id = any(${dead}::int[])
    )
    select replace(message_id::text, '-', '') as "messageId", recipient_no as "recipientNo", set_aside is not null as aside from taken`
}
