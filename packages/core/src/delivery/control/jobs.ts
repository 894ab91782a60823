import { type Actor, isKnown, lockLogs, noteChange, OPERATOR } from '../../accounts/audit/index.ts'
import { noteOperatorChange } from '../../accounts/audit/note-operator-change.ts'
import type { AnySql, Sql, SqlTransaction } from '../../platform/database/database.ts'
import type { JobFilter, QueueAction } from './job-filter.ts'

/** A plan, or the job that it became. */
export interface QueueJob {
  readonly id: number
  readonly action: QueueAction
  readonly filter: JobFilter
  readonly state: 'planned' | 'running' | 'done' | 'stopped'
  /** The deliveries that were found when it was confirmed. */
  readonly planned: number
  readonly done: number
  readonly createdAt: Date
  readonly finishedAt: Date | null
}

export const JOB_COLUMNS = (sql: AnySql) => sql`
  id::float8 as id, action, filter, state, planned::float8 as planned, done::float8 as done, created_at as "createdAt",
  finished_at as "finishedAt"`

const MAX_LISTED = 100

/** Returns the jobs that were confirmed, the latest first. */
export async function listJobs(sql: Sql): Promise<QueueJob[]> {
  return sql<QueueJob[]>`
    select ${JOB_COLUMNS(sql)} from queue_jobs where state <> 'planned' order by id desc limit ${MAX_LISTED}`
}

export async function findJob(sql: Sql, id: number): Promise<QueueJob | undefined> {
  const [job] = await sql<QueueJob[]>`select ${JOB_COLUMNS(sql)} from queue_jobs where id = ${id}`
  return job
}

/** Ends a running job after its current chunk; what it has done stays. Returns undefined if it does not run. */
export async function stopJob(sql: Sql, id: number, by: Actor): Promise<QueueJob | undefined> {
  return sql.begin(async (transaction) => {
    const [job] = await transaction<(QueueJob & { accounts: Record<string, number> })[]>`
      update queue_jobs set state = 'stopped', finished_at = service_now() where id = ${id} and state = 'running'
      returning ${JOB_COLUMNS(transaction)}, accounts`
    if (!job) return undefined
    const { accounts, ...shown } = job
    // Everything else about the job is in the logs already.
    if (isKnown(by)) {
      const stop = { accountId: null, by, action: 'queue.stop', object: `queue job ${id}` }
      await noteOperatorChange(transaction, { ...stop, after: { done: job.done } })
    }
    await noteAccounts(transaction, { ...job, accounts })
    return shown
  }) as Promise<QueueJob | undefined>
}

/** Appends what a job has done to the audit log of each account. */
export async function noteAccounts(
  sql: SqlTransaction,
  { id, action, accounts }: Pick<QueueJob, 'id' | 'action'> & { readonly accounts: Readonly<Record<string, number>> },
): Promise<void> {
  const ids = Object.keys(accounts).map(Number)
  await lockLogs(sql, ids)
  for (const accountId of ids) {
    const after = { deliveries: accounts[accountId] }
    await noteChange(sql, { accountId, by: OPERATOR, action: `queue.${action}`, object: `queue job ${id}`, after })
  }
}

/** Deletes plans after a day, and jobs 30 days after their end. Returns how many. */
export async function forgetJobs(sql: Sql): Promise<number> {
  const { count } = await sql`
    delete from queue_jobs
     where (state = 'planned' and created_at < service_now() - interval '1 day') or finished_at < service_now() - interval '30 days'`
  return count
}
