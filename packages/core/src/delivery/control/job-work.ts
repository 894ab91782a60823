import type { AnySql, Sql, SqlTransaction } from '../../platform/database/database.ts'
import { dropQueued } from '../queue/drop-queued.ts'
import type { FinishedSource } from './finished.ts'
import { filterOf, type WaitingAction } from './job-filter.ts'
import { JOB_COLUMNS, noteAccounts, type QueueJob } from './jobs.ts'

/** Deliveries changed at a time, and rows of the queue that are read for them. */
const CHUNK = { changed: 1000, read: 10_000 } as const

interface Running extends QueueJob {
  readonly accounts: Record<string, number>
  readonly accountId: number
  readonly messageId: string
  readonly recipientNo: number
  readonly endId: string
}

interface Key {
  readonly messageId: string
  readonly recipientNo: number
}

/** The result of one chunk. */
interface Chunk {
  readonly changed: readonly { readonly accountId: number }[]
  /** Where the job goes on; undefined if it is finished. */
  readonly next: (Key & { readonly accountId?: number }) | undefined
}

/**
 * Processes one chunk of the oldest running job; false if there is none. The chunk and the job's progress are one transaction, which holds the
 * job's row: no two workers process a job at once, and if one dies, the next goes on where the last commit was.
 */
export async function workOnJob(sql: Sql, finished: FinishedSource): Promise<boolean> {
  return sql.begin(async (transaction) => {
    const [job] = await transaction<Running[]>`
      select ${JOB_COLUMNS(transaction)}, accounts, account_id as "accountId", message_id::text as "messageId",
             recipient_no as "recipientNo", end_id::text as "endId"
        from queue_jobs where state = 'running' order by id limit 1 for update skip locked`
    if (!job) return false
    const { action } = job
    const chunk =
      action === 'requeue'
        ? await requeueChunk(transaction, finished, job)
        : await changeWaiting(transaction, { ...job, action })
    if (!chunk) return false
    const { changed, next } = chunk
    const accounts = { ...job.accounts }
    for (const { accountId } of changed) accounts[accountId] = (accounts[accountId] ?? 0) + 1
    const { accountId, messageId, recipientNo } = { ...job, ...next }
    await transaction`
      update queue_jobs
         set account_id = ${accountId}::int, message_id = ${messageId}::uuid, recipient_no = ${recipientNo}::int,
             done = done + ${changed.length}, accounts = ${JSON.stringify(accounts)}::text::jsonb,
             state = ${next ? 'running' : 'done'}, finished_at = case when ${next ? 'running' : 'done'}::text = 'done' then service_now() end
       where id = ${job.id}`
    if (!next) await noteAccounts(transaction, { ...job, accounts })
    return true
  }) as Promise<boolean>
}

/** Undefined if nothing can be requeued now. */
async function requeueChunk(sql: SqlTransaction, finished: FinishedSource, job: Running): Promise<Chunk | undefined> {
  const { found, next } = await finished.find(sql, job.filter, job, CHUNK.changed)
  const changed = found.length > 0 ? await finished.requeue(sql, found) : []
  return changed && { changed, next }
}

/** A job over deliveries in the queue. */
type WaitingJob = Running & { readonly action: WaitingAction }

async function changeWaiting(sql: SqlTransaction, job: WaitingJob): Promise<Chunk> {
  const { keys, next } = await findChunk(sql, job)
  return { changed: keys.length > 0 ? await changeChunk(sql, job, keys) : [], next }
}

/** Returns the next deliveries in the order of the primary key, and where to go on; nowhere if these are the last. */
async function findChunk(
  sql: SqlTransaction,
  { action, filter, messageId, recipientNo, endId }: WaitingJob,
): Promise<{ keys: Key[]; next: Key | undefined }> {
  const rows = await sql<(Key & { wanted: boolean; read: number })[]>`
    with walked as materialized (
      select q.message_id, q.recipient_no, (${filterOf(sql, action, filter)}) as wanted
        from (select * from delivery_queue
               where (message_id, recipient_no) > (${messageId}::uuid, ${recipientNo}::int) and message_id < ${endId}::uuid
               order by message_id, recipient_no limit ${CHUNK.read}) q
    )
    (select message_id::text as "messageId", recipient_no as "recipientNo", true as wanted, 0 as read from walked where wanted
      order by message_id, recipient_no limit ${CHUNK.changed})
    union all
    (select message_id::text, recipient_no, false, (select count(*)::int from walked) from walked
      order by message_id desc, recipient_no desc limit 1)`
  const keys = rows.filter(({ wanted }) => wanted)
  const last = rows.find(({ wanted }) => !wanted)
  const next = keys.length === CHUNK.changed ? keys.at(-1) : (last?.read ?? 0) === CHUNK.read ? last : undefined
  return { keys, next: next && { messageId: next.messageId, recipientNo: next.recipientNo } }
}

/** Changes those of them that still meet the filter: others may have been claimed since. */
async function changeChunk(
  sql: SqlTransaction,
  { action, filter }: WaitingJob,
  keys: readonly Key[],
): Promise<{ accountId: number }[]> {
  // Locked first, in the order of the key, as a change of a batch locks them (messages/batches.ts): an update takes them in any order.
  const found = await sql<Key[]>`
    select q.message_id::text as "messageId", q.recipient_no as "recipientNo" from delivery_queue q
     where (q.message_id, q.recipient_no) in (
       select * from unnest(${keys.map(({ messageId }) => messageId)}::uuid[], ${keys.map(({ recipientNo }) => recipientNo)}::int[]))
     order by q.message_id, q.recipient_no for update of q`
  const chosen = sql`
    (q.message_id, q.recipient_no) in (
      select * from unnest(${found.map(({ messageId }) => messageId)}::uuid[], ${found.map(({ recipientNo }) => recipientNo)}::int[]))`
  const where: ReturnType<AnySql> = sql`${chosen} and ${filterOf(sql, action, filter)}`
  if (action === 'fail') return dropQueued(sql, where) as unknown as Promise<{ accountId: number }[]>
  const change = {
    flush: sql`next_at = service_now()`,
    // Due at the end of its lifetime, when it expires as usual. What waited at its destination is due at once when it is released.
    hold: sql`
      held_next_at = case when q.place is null then q.next_at else service_now() end, next_at = q.expires_at,
      place = null, waiting_for = 'hold'`,
    // Parked mail is due now, so that its source is chosen again.
    reroute: sql`
      pool_id = ${filter.toPool ?? null}::int, next_at = case when q.place is null then q.next_at else service_now() end,
      waiting_for = case when q.place is null then q.waiting_for end, place = null`,
    release: sql`next_at = coalesce(q.held_next_at, service_now()), held_next_at = null, waiting_for = null`,
  }[action]
  return sql<{ accountId: number }[]>`
    update delivery_queue q set ${change} where ${where} returning q.account_id as "accountId"`
}
