import { type Actor, ALL_ACCOUNTS, noteChange } from '../../accounts/audit/index.ts'
import { type AnySql, onlyRow, type Sql } from '../../platform/database/database.ts'
import { filterOf, type JobFilter, type QueueAction } from './job-filter.ts'
import { JOB_COLUMNS, type QueueJob } from './jobs.ts'

export interface JobPlan {
  /** The number to confirm. */
  readonly id: number
  readonly action: QueueAction
  readonly count: number
  /** Whether there may be more: only a million rows of the queue are read. */
  readonly partial: boolean
  /** The ten largest of each. A place is null for mail that is not parked. */
  readonly byPlace: readonly { readonly place: string | null; readonly count: number }[]
  readonly byAccount: readonly { readonly accountId: number; readonly count: number }[]
  readonly sample: readonly {
    /** 32 hex digits. */
    readonly messageId: string
    readonly recipientNo: number
    readonly accountId: number
    readonly recipient: string
    readonly state: string
  }[]
  readonly expiresAt: Date
}

/** Why a plan was not confirmed. */
export type ConfirmProblem =
  | { readonly why: 'unknown' | 'expired' | 'confirmed' | 'empty' }
  | { readonly why: 'moved'; readonly planned: number; readonly now: number }

/** Rows of the queue that are read to count; a second or two. */
const MAX_READ = 1_000_000
const MAX_SHOWN = 10
const SAMPLE = 5
const PLAN_MINUTES = 10
/** The share by which the count may differ when the plan is confirmed. */
const TOLERANCE = 0.1

/** Stores a plan, and returns what the job would do now. */
export async function planJob(sql: Sql, action: QueueAction, filter: JobFilter): Promise<JobPlan> {
  const { count, partial, byPlace, byAccount } = await countMatches(sql, action, filter)
  const sample = await sql<JobPlan['sample'][number][]>`
    select replace(q.message_id::text, '-', '') as "messageId", q.recipient_no as "recipientNo", q.account_id as "accountId",
           q.recipient, q.state
      from ${rowsOf(sql, filter)} q where ${filterOf(sql, action, filter)} limit ${SAMPLE}`
  const { id, expiresAt } = onlyRow(
    await sql<{ id: number; expiresAt: Date }[]>`
      insert into queue_jobs (action, filter, planned, partial)
      values (${action}, ${JSON.stringify(filter)}::text::jsonb, ${count}, ${String(partial)}::text::boolean)
      returning id::float8 as id, created_at + make_interval(mins => ${PLAN_MINUTES}) as "expiresAt"`,
  )
  return { id, action, count, partial, byPlace, byAccount, sample, expiresAt }
}

/**
 * Begins the job of a plan. Mail accepted later does not belong to it. A plan is confirmed once, within ten minutes, and only if the number of
 * deliveries has changed by no more than a tenth.
 */
export async function confirmJob(
  sql: Sql,
  id: number,
  { action, by }: { readonly action: QueueAction; readonly by: Actor },
): Promise<QueueJob | ConfirmProblem> {
  return sql.begin(async (transaction) => {
    const [plan] = await transaction<(QueueJob & { expired: boolean })[]>`
      select ${JOB_COLUMNS(transaction)}, created_at < service_now() - make_interval(mins => ${PLAN_MINUTES}) as expired
        from queue_jobs where id = ${id} and action = ${action} for update`
    if (!plan) return { why: 'unknown' }
    if (plan.state !== 'planned') return { why: 'confirmed' }
    if (plan.expired) return { why: 'expired' }
    const { planned, filter } = plan
    const { count: now } = await countMatches(transaction, action, filter)
    if (Math.abs(now - planned) > planned * TOLERANCE) return { why: 'moved', planned, now }
    if (now === 0) return { why: 'empty' }
    const change = {
      accountId: filter.accountId ?? ALL_ACCOUNTS,
      by,
      action: `queue.${action}`,
      object: `queue job ${id}`,
    }
    await noteChange(transaction, { ...change, after: { filter, planned: now } })
    return onlyRow(
      await transaction<QueueJob[]>`
        update queue_jobs set state = 'running', confirmed_at = service_now(), planned = ${now},
               end_id = uuidv7_floor(service_now() + interval '1 second')
         where id = ${id} returning ${JOB_COLUMNS(transaction)}`,
    )
  }) as Promise<QueueJob | ConfirmProblem>
}

/** The rows among which the matches are, by the index of the place or the account if there is one. */
function rowsOf(sql: AnySql, { place, accountId }: JobFilter): ReturnType<AnySql> {
  const where =
    place !== undefined
      ? sql`worker_id is null and place is not null
            and place in (select ${place}::text union all select ${place}::text || '@' || name from sources)`
      : accountId !== undefined
        ? sql`worker_id is null and account_id = ${accountId}::int`
        : sql`true`
  return sql`(select * from delivery_queue where ${where} limit ${MAX_READ})`
}

async function countMatches(
  sql: AnySql,
  action: QueueAction,
  filter: JobFilter,
): Promise<Pick<JobPlan, 'count' | 'partial' | 'byPlace' | 'byAccount'>> {
  const rows = await sql<{ all: number; place: string | null; accountId: number; count: number; read: number }[]>`
    select grouping(place, account_id) as all, place, account_id as "accountId", count(*) filter (where wanted)::int as count,
           count(*)::int as read
      from (select q.place, q.account_id, (${filterOf(sql, action, filter)}) as wanted from ${rowsOf(sql, filter)} q) counted
     group by grouping sets ((place), (account_id), ()) order by 4 desc`
  const [PLACE, ACCOUNT, TOTAL] = [1, 2, 3]
  const largest = (set: number) => rows.filter(({ all, count }) => all === set && count > 0).slice(0, MAX_SHOWN)
  const total = rows.find(({ all }) => all === TOTAL)
  return {
    count: total?.count ?? 0,
    partial: (total?.read ?? 0) >= MAX_READ,
    byPlace: largest(PLACE as number).map(({ place, count }) => ({ place, count })),
    byAccount: largest(ACCOUNT as number).map(({ accountId, count }) => ({ accountId, count })),
  }
}
