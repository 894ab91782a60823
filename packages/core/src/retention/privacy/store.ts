import { type AnySql, onlyRow, type Sql } from '../../platform/database/database.ts'
import {
  type ForgetRequest,
  type Progress,
  type Receipt,
  type RequestInWork,
  type RequestState,
  sumOf,
} from './request.ts'

export interface NewRequest {
  readonly uuid: string
  readonly accountId: number
  readonly emails: number
  readonly sealed: Buffer
}

/** Stores a new request. */
export async function insertRequest(sql: AnySql, { uuid, accountId, emails, sealed }: NewRequest): Promise<void> {
  await sql`
    insert into forget_requests (id, account_id, emails, sealed) values (${uuid}, ${accountId}, ${emails}, ${sealed})`
}

interface RequestRow {
  readonly state: RequestState
  readonly emails: number
  readonly requestedAt: Date
  readonly completedAt: Date | null
  readonly receipt: Partial<Receipt>
  readonly waiting: number
}

/** Returns a request of the account; undefined if it does not exist. */
export async function selectRequest(
  sql: Sql,
  accountId: number,
  uuid: string,
): Promise<Omit<ForgetRequest, 'id'> | undefined> {
  const [row] = await sql<RequestRow[]>`
    select state, emails, requested_at as "requestedAt", completed_at as "completedAt", receipt,
           (select count(distinct message_id)::int from forget_messages where request_id = r.id) as waiting
      from forget_requests r where id = ${uuid}::uuid and account_id = ${accountId}`
  return row && { ...row, receipt: sumOf(row.receipt) }
}

/** Returns requests of the account, newest first, and how many it has. */
export async function selectRequests(
  sql: Sql,
  accountId: number,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ requests: (Omit<ForgetRequest, 'id'> & { readonly uuid: string })[]; total: number }> {
  const [rows, counted] = await Promise.all([
    sql<(RequestRow & { readonly uuid: string })[]>`
      select id as uuid, state, emails, requested_at as "requestedAt", completed_at as "completedAt", receipt,
             (select count(distinct message_id)::int from forget_messages where request_id = r.id) as waiting
        from (select * from forget_requests where account_id = ${accountId} order by requested_at desc, id desc limit ${limit} offset ${offset}) r
       order by r.requested_at desc, r.id desc`,
    sql<{ total: number }[]>`select count(*)::int as total from forget_requests where account_id = ${accountId}`,
  ])
  return { requests: rows.map((row) => ({ ...row, receipt: sumOf(row.receipt) })), total: onlyRow(counted).total }
}

/**
 * Locks and returns the due request that has waited longest; undefined if none is due. Transactions that were accepting messages
 * when the request was made have ended: no statement runs longer than 15 s.
 */
export async function takeRequest(sql: AnySql): Promise<RequestInWork | undefined> {
  const [row] = await sql<RequestInWork[]>`
    select id as uuid, account_id as "accountId", requested_at::text as "requestedAt", stage, queue_message as "queueMessage",
           queue_recipient as "queueRecipient", subject_no as "subjectNo", sealed, receipt, batch_size as "batchSize"
      from forget_requests
     where state <> 'done' and due_at <= service_now()
           and (transaction < pg_snapshot_xmin(pg_current_snapshot()) or requested_at < service_now() - interval '60 seconds')
     order by due_at limit 1
     for update skip locked`
  return row
}

/** Stores the progress of a request. */
export async function saveProgress(sql: AnySql, request: RequestInWork, progress: Progress): Promise<void> {
  const { stage = request.stage, queueMessage, queueRecipient, subjectNo, touched, again = 0 } = progress
  const receipt = JSON.stringify(sumOf(request.receipt, touched))
  if (stage === 'done') {
    await sql`
      update forget_requests set state = 'done', completed_at = service_now(), sealed = null, receipt = ${receipt}::text::jsonb
       where id = ${request.uuid}`
    return
  }
  await sql`
    update forget_requests
       set state = 'running', stage = ${stage}, queue_message = ${queueMessage ?? request.queueMessage}::uuid,
           queue_recipient = ${queueRecipient ?? request.queueRecipient}::int, subject_no = ${subjectNo ?? request.subjectNo},
           receipt = ${receipt}::text::jsonb, due_at = service_now() + make_interval(secs => ${again})
     where id = ${request.uuid}`
}

/** Postpones a request whose batch failed, so that it does not block others. `halve` halves the size of the next batch. */
export async function postpone(sql: Sql, uuid: string, seconds: number, { halve }: { halve: boolean }): Promise<void> {
  await sql`
    update forget_requests
       set due_at = service_now() + make_interval(secs => ${seconds}),
           batch_size = case when ${halve} then greatest(batch_size / 2, 1) else batch_size end
     where id = ${uuid} and state <> 'done'`
}

/** Returns the seconds until a request is due; undefined if there is none. */
export async function secondsUntilDue(sql: Sql): Promise<number | undefined> {
  const row = onlyRow(
    await sql<{ seconds: number | null }[]>`
      select extract(epoch from min(due_at) - service_now())::float8 as seconds from forget_requests where state <> 'done'`,
  )
  return row.seconds ?? undefined
}
