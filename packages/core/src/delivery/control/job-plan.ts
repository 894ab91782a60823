import type { Actor } from '../../accounts/audit/index.ts'
import { noteOperatorChange } from '../../accounts/audit/note-operator-change.ts'
import { type AnySql, onlyRow, type Sql } from '../../platform/database/database.ts'
import type { FinishedSource } from './finished.ts'
import type { JobFilter, QueueAction } from './job-filter.ts'
import { JOB_COLUMNS, type QueueJob } from './jobs.ts'
import { matchFinished } from './match-finished.ts'
import { matchWaiting } from './match-waiting.ts'
import type { Matches } from './matches.ts'

export interface JobPlan extends Matches {
  /** The number to confirm. */
  readonly id: number
  readonly action: QueueAction
  readonly expiresAt: Date
}

/** Why a plan was not confirmed. */
export type ConfirmProblem =
  | { readonly why: 'unknown' | 'expired' | 'confirmed' | 'empty' }
  | { readonly why: 'moved'; readonly planned: number; readonly now: number }

/** Returns the message for the operator. */
export function confirmProblemText(problem: ConfirmProblem, id: number, action: QueueAction): string {
  switch (problem.why) {
    case 'unknown':
      return `plan ${id} of queue ${action} not found`
    case 'expired':
      return `plan ${id} has expired; make a new one`
    case 'confirmed':
      return `plan ${id} was already confirmed; "queue jobs ${id}" shows its progress`
    case 'empty':
      return `no deliveries match plan ${id}`
    case 'moved':
      return `plan ${id} was for ${problem.planned} deliveries, now there are ${problem.now}; make a new one`
  }
}

const PLAN_MINUTES = 10
/** The share by which the count may differ when the plan is confirmed. */
const TOLERANCE = 0.1

export interface PlanDependencies {
  readonly sql: Sql
  readonly finished: FinishedSource
}

/** Stores a plan, and returns what the job would do now. */
export async function planJob(
  dependencies: PlanDependencies,
  action: QueueAction,
  filter: JobFilter,
): Promise<JobPlan> {
  const { sql } = dependencies
  const matches = await findMatches(dependencies, action, filter)
  const { count, partial } = matches
  const { id, expiresAt } = onlyRow(
    await sql<{ id: number; expiresAt: Date }[]>`
      insert into queue_jobs (action, filter, planned, partial)
      values (${action}, ${JSON.stringify(filter)}::text::jsonb, ${count}, ${String(partial)}::text::boolean)
      returning id::float8 as id, created_at + make_interval(mins => ${PLAN_MINUTES}) as "expiresAt"`,
  )
  return { id, action, ...matches, expiresAt }
}

function findMatches(
  { sql, finished }: Omit<PlanDependencies, 'sql'> & { readonly sql: AnySql },
  action: QueueAction,
  filter: JobFilter,
): Promise<Matches> {
  return action === 'requeue' ? matchFinished(finished, sql, filter) : matchWaiting(sql, action, filter)
}

/**
 * Begins the job of a plan. Mail accepted later does not belong to it. A plan is confirmed once, within ten minutes, and only if the number of
 * deliveries has changed by no more than a tenth.
 */
export async function confirmJob(
  dependencies: PlanDependencies,
  id: number,
  { action, by }: { readonly action: QueueAction; readonly by: Actor },
): Promise<QueueJob | ConfirmProblem> {
  return dependencies.sql.begin(async (transaction) => {
    const [plan] = await transaction<(QueueJob & { expired: boolean })[]>`
      select ${JOB_COLUMNS(transaction)}, created_at < service_now() - make_interval(mins => ${PLAN_MINUTES}) as expired
        from queue_jobs where id = ${id} and action = ${action} for update`
    if (!plan) return { why: 'unknown' }
    if (plan.state !== 'planned') return { why: 'confirmed' }
    if (plan.expired) return { why: 'expired' }
    const { planned, filter } = plan
    const { count: now } = await findMatches({ ...dependencies, sql: transaction }, action, filter)
    if (Math.abs(now - planned) > planned * TOLERANCE) return { why: 'moved', planned, now }
    if (now === 0) return { why: 'empty' }
    const change = {
      accountId: filter.accountId ?? null,
      by,
      action: `queue.${action}`,
      object: `queue job ${id}`,
    }
    await noteOperatorChange(transaction, { ...change, after: { filter, planned: now } })
    return onlyRow(
      await transaction<QueueJob[]>`
        update queue_jobs set state = 'running', confirmed_at = service_now(), planned = ${now},
               end_id = uuidv7_floor(service_now() + interval '1 second')
         where id = ${id} returning ${JOB_COLUMNS(transaction)}`,
    )
  }) as Promise<QueueJob | ConfirmProblem>
}
