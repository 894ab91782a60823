import { insertEvents } from '../events/insert-events.ts'
import { openSession, type Sql, type SqlTransaction } from '../platform/database/database.ts'
import { INDETERMINATE_WAIT_SECONDS } from './schedule.ts'
import { judgedAside } from './set-aside.ts'

/**
 * Leases are held by the worker, not row by row: a claimed delivery carries its worker's id, and the worker proves that it
 * lives in two ways. It holds an advisory lock on a session of its own, which the kernel frees within milliseconds of its
 * death; and it advances a counter, which stands still when it hangs. Both are judged by the observer's own monotonic clock,
 * so no clock that jumps can steal a lease. The beats come from a thread (lease-thread.ts), which stops them when the main loop
 * stands still.
 */
const LOCK_SPACE = 7741
/** Milliseconds between beats. */
export const BEAT_EVERY = 2000
/** A worker whose lock is free and whose beat stands still this long is dead. Longer than a living one needs to come back after the database restarted. */
const DEAD_AFTER = 5000
/** A beat that has no answer by then is given up, with its connection. */
const BEAT_PATIENCE = 3000
/** A worker whose beat stands still this long hangs, lock or not. */
const HUNG_AFTER = 60_000
/** A delivery whose worker was lost this often may be what kills workers: from then on it waits before it is tried again. */
const ABANDONED_OFTEN = 3

export interface WorkerLease {
  readonly workerId: number
  /** Proves life. False: another worker has taken over, and nothing this one holds is its own any more. Throws when the database is away. */
  beat(): Promise<boolean>
  /** Gives the lease up; what is still claimed is taken over by others at once. */
  release(): Promise<void>
  /** Lets the lock go at once, and says nothing more. */
  abandon(): Promise<void>
}

export async function registerWorker(sql: Sql, worker: { host: string; pid: number }): Promise<WorkerLease> {
  let session = openSession(sql)
  // The lock is taken before the row can be seen, so nobody finds a living worker without its lock.
  const [{ id }] = await session<[{ id: number }]>`
    with registered as (insert into workers (host, pid) values (${worker.host}, ${worker.pid}) returning id)
    select id, pg_advisory_lock(${LOCK_SPACE}, id) from registered`

  return {
    workerId: id,
    async beat() {
      // The lock is taken with every beat, which counts up on a session that has it: a session that comes after a lost one
      // has it with its first beat, before anybody counts us dead.
      const beating = session`
        with locked as materialized (select pg_try_advisory_lock(${LOCK_SPACE}, ${id}::int))
        update workers set beat = beat + 1 from locked where id = ${id} returning 1`
      const rows = await within(BEAT_PATIENCE, beating)
      if (rows) return rows.length > 0
      // Cut off without a word: a new session finds out more, and sooner.
      void session.end({ timeout: 0 })
      session = openSession(sql)
      throw Object.assign(new Error('no answer to the beat'), { code: 'ETIMEDOUT' })
    },
    async release() {
      await session`delete from workers where id = ${id} and not exists (select 1 from delivery_queue where worker_id = ${id})`
      await session.end({ timeout: 5 })
    },
    abandon: () => session.end({ timeout: 0 }),
  }
}

/** What the promise answers in so many milliseconds, else undefined. */
async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined)
  })
  promise.catch(() => {})
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/** Is there a worker of this host that holds its lock? */
export async function isWorkerAlive(sql: Sql, host: string): Promise<boolean> {
  const rows = await sql`
    select 1 from workers w join pg_locks l on l.locktype = 'advisory' and l.classid = ${LOCK_SPACE}::oid
           and l.objid = w.id::oid and l.objsubid = 2
     where w.host = ${host} limit 1`
  return rows.length > 0
}

interface Sighting {
  beat: string
  since: number
  freeSince: number | undefined
}

export interface LostWorkers {
  /** Looks at all workers and takes over what lost ones held. Answers how many deliveries. Call it every second or two. */
  takeOver(): Promise<number>
}

/** Told of each delivery that a take-over has set aside, by the id of its message. */
export type OnSetAside = (messageId: string, recipientNo: number) => void

interface Taken {
  readonly messageId: string
  readonly recipientNo: number
  readonly aside: boolean
}

/** `own`: the observer's own worker, which evidently lives and is for others to judge. */
export function watchWorkers(sql: Sql, monotonic: () => number, own?: number, onSetAside?: OnSetAside): LostWorkers {
  let sightings = new Map<number, Sighting>()

  return {
    async takeOver() {
      let rows: { id: number; beat: string; free: boolean }[]
      try {
        rows = await sql<{ id: number; beat: string; free: boolean }[]>`
          select w.id, w.beat, not exists (
                   select 1 from pg_locks l
                    where l.locktype = 'advisory' and l.classid = ${LOCK_SPACE}::oid and l.objid = w.id::oid and l.objsubid = 2
                      and l.database = (select oid from pg_database where datname = current_database())) as free
            from workers w`
      } catch (error) {
        // What was seen before the database went away says nothing about who came back with it.
        sightings = new Map()
        throw error
      }
      const lost = judgeSightings(rows, monotonic()).filter((id) => id !== own)
      return lost.length === 0 ? 0 : takeOverAndTell(lost)
    },
  }

  async function takeOverAndTell(lost: readonly number[]): Promise<number> {
    const taken = await sql.begin((transaction) => takeOverFrom(transaction, lost))
    for (const { messageId, recipientNo, aside } of taken) if (aside) onSetAside?.(messageId, recipientNo)
    return taken.length
  }

  function judgeSightings(rows: readonly { id: number; beat: string; free: boolean }[], now: number): number[] {
    const seen = new Map<number, Sighting>()
    const lost: number[] = []
    for (const { id, beat, free } of rows) {
      const before = sightings.get(id)
      const same = before?.beat === beat
      const sighting: Sighting = {
        beat,
        since: same ? before.since : now,
        freeSince: free ? ((same ? before.freeSince : undefined) ?? now) : undefined,
      }
      seen.set(id, sighting)
      const dead = sighting.freeSince !== undefined && now - sighting.freeSince >= DEAD_AFTER
      if (dead || now - sighting.since >= HUNG_AFTER) lost.push(id)
    }
    sightings = seen
    return lost
  }
}

/**
 * Puts a lost worker's deliveries back. Before the final dot nothing can have been delivered: due again at once. After it
 * nobody knows: indeterminate, the same host again, not before five minutes (RFC 1047).
 */
async function takeOverFrom(sql: SqlTransaction, suspects: readonly number[]): Promise<readonly Taken[]> {
  // Waits for a claim of theirs that is just committing, so that the next statement sees what it took; and for another
  // observer, who leaves nothing to do.
  const lost = (
    await sql<{ id: number }[]>`select id from workers where id = any(${[...suspects]}::int[]) for update`
  ).map(({ id }) => id)
  if (lost.length === 0) return []
  const aside = judgedAside(sql)
  return sql<Taken[]>`
    with taken as (
      update delivery_queue q
         set worker_id = null, abandoned = q.abandoned + 1, dot_at = null, dot_host = null, ${aside.columns},
             state = case when q.dot_at is null and q.attempt = 1 then 'queued' else 'deferred' end,
             only_host = case when q.dot_at is null then q.only_host else q.dot_host end,
             next_at = case ${aside.nextAt}
                            when old.dot_at is not null
                              then old.dot_at + make_interval(secs => ${INDETERMINATE_WAIT_SECONDS})
                            when old.abandoned + 1 >= ${ABANDONED_OFTEN} then service_now() + interval '5 minutes'
                            else service_now() end
        from (select message_id, recipient_no, dot_at, dot_host, worker_id, abandoned, alone, blamed from delivery_queue
               where worker_id = any(${lost}::int[]) for update) old
       where q.message_id = old.message_id and q.recipient_no = old.recipient_no
      returning q.message_id, q.recipient_no, q.account_id, q.attempt, old.worker_id, old.dot_at, old.dot_host,
                q.set_aside
    ), tried as (
      insert into attempts (message_id, recipient_no, attempt, account_id, worker_id, outcome, indeterminate, started_at,
             milliseconds, stage, host, reply)
      select message_id, recipient_no, attempt, account_id, worker_id,
             case when dot_at is null then 'abandoned' else 'deferred' end, dot_at is not null,
             coalesce(dot_at, service_now()), 0, case when dot_at is not null then 'dot' end, dot_host,
             case when dot_at is null then 'the worker was lost before the message was handed over'
                  else 'the worker was lost after the final dot; the remote server may have the message' end
        from taken
      on conflict do nothing
    ), happened as (
      ${insertEvents(sql, {
        from: sql`taken where dot_at is not null`,
        type: 'deferred',
        detail: sql`jsonb_build_object('attempt', attempt, 'indeterminate', true, 'host', dot_host)`,
      })}
    ), gone as (
      delete from workers where id = any(${lost}::int[])
    )
    select replace(message_id::text, '-', '') as "messageId", recipient_no as "recipientNo", set_aside is not null as aside from taken`
}
