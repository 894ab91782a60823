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

/**
 * Takes the request that has waited longest, for as long as the transaction lasts. Accepts that ran when it came are over: no
 * statement runs longer than 15 s.
 */
export async function takeRequest(sql: AnySql): Promise<RequestInWork | undefined> {
  const [row] = await sql<RequestInWork[]>`
    select id as uuid, account_id as "accountId", requested_at as "requestedAt", stage, queue_message as "queueMessage",
           queue_recipient as "queueRecipient", subject_no as "subjectNo", sealed, receipt, batch_size as "batchSize"
      from forget_requests
     where state <> 'done' and due_at <= service_now()
           and (transaction < pg_snapshot_xmin(pg_current_snapshot()) or requested_at < service_now() - interval '60 seconds')
     order by due_at limit 1
     for update skip locked`
  return row
}

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

/** Puts a request off whose batch failed, so that it holds up no other. `halve`: the next one is to have half as many messages. */
export async function postpone(sql: Sql, uuid: string, seconds: number, { halve }: { halve: boolean }): Promise<void> {
  await sql`
    update forget_requests
       set due_at = service_now() + make_interval(secs => ${seconds}),
           batch_size = case when ${halve} then greatest(batch_size / 2, 1) else batch_size end
     where id = ${uuid} and state <> 'done'`
}

/** Seconds until a request is due; undefined: there is none. */
export async function secondsUntilDue(sql: Sql): Promise<number | undefined> {
  const row = onlyRow(
    await sql<{ seconds: number | null }[]>`
      select extract(epoch from min(due_at) - service_now())::float8 as seconds from forget_requests where state <> 'done'`,
  )
  return row.seconds ?? undefined
}
