import { pause } from '../../concurrency/timer-delay.ts'
import { onlyRow, type Sql, type SqlTransaction } from '../database.ts'
import { withDeadline } from '../deadlines.ts'

/** A statement of the driver: the session it was sent to, null until it was sent. */
export interface SentStatement {
  readonly state: { readonly pid: number } | null
}

export interface LostAnswer {
  readonly pid: number
  /** performance.now() */
  readonly since: number
}

/** Milliseconds a question to the database may take: another session answers at once, or its connection is as dead. */
const ASK_TIMEOUT = 1000
const ASK_AGAIN = { first: 50, most: 500 } as const

/**
 * Ends the session whose answer was lost, and waits until it is gone: until then, its statement may be committed at any moment. What another session reads
 * afterwards is the outcome. Returns false if it is not gone after `patience` milliseconds: the database does not respond, the session's process is stopped,
 * or its commit waits for a disk or a standby.
 *
 * Behind a pooler the session is unknown; then it waits until no session of this program has a transaction that began before the answer was lost.
 */
export async function untilEnded(sql: Sql, lost: LostAnswer, patience: number): Promise<boolean> {
  const until = performance.now() + patience
  for (let wait: number = ASK_AGAIN.first; ; wait = Math.min(2 * wait, ASK_AGAIN.most)) {
    // An error says nothing of the session.
    const isEnded = await endSession(withDeadline(sql, ASK_TIMEOUT), lost).catch(() => false)
    if (isEnded) return true
    if (performance.now() + wait > until) return false
    await pause(wait)
  }
}

async function endSession(pool: Sql, lost: LostAnswer): Promise<boolean> {
  return pool.begin(async (sql) => {
    // A role that its owner's role is set for (docs/postgres.md) sees its own sessions, and may end them, as itself alone.
    await sql`set local role none`
    return isOver(sql, lost)
  }) as Promise<boolean>
}

async function isOver(sql: SqlTransaction, { pid, since }: LostAnswer): Promise<boolean> {
  const seconds = (performance.now() - since) / 1000
  const statement = sql<{ own: number; running: boolean; open: boolean; standby: boolean }[]>`
    with program as (
      select pid, wait_event, xact_start from pg_stat_activity
       where datname = current_database() and usename = session_user and application_name = current_setting('application_name')
         and pid <> pg_backend_pid()
         -- Unknown to a role that may not see it.
         and coalesce(backend_start < clock_timestamp() - make_interval(secs => ${seconds}), true)
    ), ended as (
      -- One that waits for a standby has committed: ended, it would show as stored what is on one server only.
      select pg_terminate_backend(pid) from program where pid = ${pid} and wait_event is distinct from 'SyncRep'
    )
    -- Counted, since a part that is not read is not executed.
    select (select count(*) from ended) as ended, pg_backend_pid() as own, pg_is_in_recovery() as standby,
           exists (select from program where pid = ${pid}) as running,
           exists (select from program where xact_start < clock_timestamp() - make_interval(secs => ${seconds})) as open`
  const { own, running, open, standby } = onlyRow(await statement)
  // It may lack what the primary has committed.
  if (standby) return false
  const isBehindPooler = (statement as unknown as SentStatement).state?.pid !== own
  return isBehindPooler ? !open : !running
}
