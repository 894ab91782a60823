import { isDatabaseAway, isLockTimeout, type Sql } from '../database.ts'

/** Milliseconds after which a commit of accepted mail that has not ended may wait for a lock. The usual one takes some milliseconds. */
const STUCK_AFTER = 2500
/** For a lock on a table that is held for a moment, as when a partition is created. */
const LOCK_TIMEOUT = '500ms'
/** The tables that an accept writes. */
const WRITTEN = [
  'messages',
  'bodies',
  'delivery_queue',
  'finished_deliveries',
  'events',
  'idempotency_keys',
  'credit_usage',
]

/** Whether accepted mail can be stored, by the commits themselves: nothing is asked while they succeed. */
export interface LockWatch {
  /** A commit begins. To be called with its promise. */
  watch<T>(commit: Promise<T>): Promise<T>
  /** Returns what keeps commits from ending, for the operator; undefined if nothing does. */
  problem(sql: Sql): Promise<string | undefined>
}

export function createLockWatch(): LockWatch {
  const running = new Set<{ readonly since: number }>()
  let isSuspected = false
  return {
    async watch(commit) {
      const one = { since: performance.now() }
      running.add(one)
      try {
        const result = await commit
        isSuspected = false
        return result
      } catch (error) {
        isSuspected ||= isStuck(one)
        throw error
      } finally {
        running.delete(one)
      }
    },
    async problem(sql) {
      isSuspected ||= [...running].some(isStuck)
      if (!isSuspected) return undefined
      const problem = await lockProblem(sql)
      // One commit may go on taking long for another reason, such as a slow disk.
      if (problem === undefined) isSuspected = false
      return problem
    },
  }
}

const isStuck = ({ since }: { readonly since: number }): boolean => performance.now() - since > STUCK_AFTER

/** Takes the locks of an accept, with those of all partitions, and gives them back. */
async function lockProblem(sql: Sql): Promise<string | undefined> {
  try {
    await sql.begin(async (transaction) => {
      await transaction`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`
      for (const table of WRITTEN) await transaction`lock table ${sql(table)} in row exclusive mode`
    })
    return undefined
  } catch (error) {
    if (isLockTimeout(error)) return describeHolder(sql)
    if (isDatabaseAway(error)) throw error
    // Nothing is known of locks, as of a role that may not take these.
    return undefined
  }
}

interface Holder {
  readonly pid: number
  readonly program: string | null
  readonly table: string
  /** "11:20:05". It stays the same, so that the log says it once. */
  readonly since: string | null
}

async function describeHolder(sql: Sql): Promise<string> {
  const [holder] = await sql<Holder[]>`
    select l.pid, a.application_name as program, t.name as table, to_char(a.xact_start at time zone 'UTC', 'HH24:MI:SS') as since
      from pg_locks l join pg_class c on c.oid = l.relation left join pg_stat_activity a on a.pid = l.pid
      cross join lateral (select regexp_replace(c.relname, '_[0-9]{4}w[0-9]{2}$', '') as name) t
     where l.granted and l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
       and l.database = (select oid from pg_database where datname = current_database())
       and t.name = any(${WRITTEN}::text[])
     order by a.xact_start, l.pid, t.name limit 1`
  if (!holder) return 'mail cannot be stored, since its tables are locked: see pg_locks'
  const { pid, program, table, since } = holder
  const name = program ? ` (${program})` : ''
  const when = since === null ? '' : ` since ${since} UTC`
  return (
    `mail cannot be stored: session ${pid}${name} has locked the table ${table}${when}; ` +
    `wait for it, or end it: select pg_terminate_backend(${pid})`
  )
}
