import { lockBodies } from '../../delivery/queue/deletion-locks.ts'
import { isDatabaseTrouble, isTimeout, type Sql, type SqlTransaction } from '../../platform/database/database.ts'
import type { SealedColumn } from '../../platform/security/key-rotation.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import type { Forgotten } from '../../suppressions/forgotten.ts'
import { eraseBatch } from './erase-batch.ts'
import { type FoundMessage, findFinished, findQueued, firstFew } from './find.ts'
import { announceHashes, hashSuppressions } from './opt-outs.ts'
import type { Progress, Receipt, RequestInWork, Subject } from './request.ts'
import { postpone, saveProgress, takeRequest } from './store.ts'
import { foldTagNames } from './tag-names.ts'

/**
 * Statement timeout of a batch in milliseconds. Events of all accounts get no sequence numbers until the transaction has ended
 * (reporting/events/sequencer.ts). A batch of one message has the usual timeout.
 */
const STATEMENT_MS = 2000
/** Number of recipients searched for in one transaction if none of them is found. */
const SUBJECTS = 50
/** Responses of webhooks' receivers that are cleared in one transaction, per message of a batch. */
const ANSWERS = 25
/** Seconds before a failed batch is retried, after a database outage and after an internal error. */
const RETRY_AFTER = { outage: 1, fault: 30 } as const
/** Limits in seconds of the interval between checks of messages with unfinished deliveries. */
const CHECK_INTERVAL = { min: 1, max: 10 } as const

export interface ForgetDependencies {
  readonly sql: Sql
  readonly secrets: Secrets
  readonly forgotten: Forgotten
}

/** Encrypts the recipients of a request. */
export function sealSubjects(secrets: Secrets, uuid: string, subjects: readonly Subject[]): Buffer {
  return secrets.seal(Buffer.from(JSON.stringify(subjects)), `forget request ${uuid}`)
}

/** The stored values that are sealed here. */
export const SEALED_FORGET_REQUESTS: SealedColumn = {
  what: 'requests to forget recipients',
  table: 'forget_requests',
  keyType: 'uuid',
  column: 'sealed',
  context: (sql) => sql`'forget request ' || t.id`,
}

/**
 * Processes one batch of the request that has waited longest, in one short transaction that also stores the progress. A crash
 * therefore leaves no partial batch, and the next process resumes there. Returns false if no request is due.
 */
export async function forgetSome(dependencies: ForgetDependencies): Promise<boolean> {
  const { sql, secrets } = dependencies
  let taken: RequestInWork | undefined
  try {
    await sql.begin(async (transaction) => {
      taken = await takeRequest(transaction)
      if (!taken) return
      if (taken.batchSize > 1) await transaction`select set_config('statement_timeout', ${String(STATEMENT_MS)}, true)`
      const sealed = secrets.open(Buffer.from(taken.sealed), `forget request ${taken.uuid}`)
      const subjects = JSON.parse(sealed.toString()) as Subject[]
      const progress = await STAGES[taken.stage](transaction, taken, subjects, dependencies)
      await saveProgress(transaction, taken, progress)
    })
    return taken !== undefined
  } catch (error) {
    const { outage, fault } = RETRY_AFTER
    const halve = isTimeout(error)
    if (taken) await postpone(sql, taken.uuid, isDatabaseTrouble(error) ? outage : fault, { halve }).catch(() => {})
    throw error
  }
}

type StageHandler = (
  sql: SqlTransaction,
  request: RequestInWork,
  subjects: readonly Subject[],
  dependencies: ForgetDependencies,
) => Promise<Progress>

const STAGES: Readonly<Record<RequestInWork['stage'], StageHandler>> = {
  suppressions: announceHashes,
  queue: searchQueue,
  finished: eraseFinished,
  waiting: eraseQueued,
  async last(sql, request, subjects, { forgotten }) {
    await foldTagNames(sql, request.accountId, subjects)
    // Keys that contain the address and belong to messages to other recipients.
    await sql`
      delete from idempotency_keys
       where account_id = ${request.accountId} and key = any(${subjects.map(({ key }) => key)}::text[])`
    await sql`
      delete from cleared_failures
       where account_id = ${request.accountId}
         and exists (select from unnest(${subjects.map(({ key }) => key)}::text[]) as k(key) where position(k.key in address) > 0)`
    const progress = await hashSuppressions(sql, request, subjects, forgotten)
    if (progress.stage !== 'done') return progress
    if (await forgetAnswers(sql, request)) return { ...progress, stage: 'last' }
    await forgetExports(sql, request.accountId)
    return progress
  },
}

/** Exports of events contain the addresses of all recipients. */
async function forgetExports(sql: SqlTransaction, accountId: number): Promise<void> {
  // A file that is being finished is one by then: restarted instead, it would be an empty one, with its content still stored.
  await sql`select from export_jobs where account_id = ${accountId} order by id for update`
  await sql`select forget_export_files(${accountId}::int)`
}

/**
 * Receivers of webhooks may send back what they got; the bodies of requests are written from the events. Returns whether there may be more:
 * clearing 900,000 of ten webhooks took 43 s, and no statement runs longer than 15 s.
 */
async function forgetAnswers(sql: SqlTransaction, { accountId, batchSize }: RequestInWork): Promise<boolean> {
  const most = batchSize * ANSWERS
  const { count } = await sql`
    update webhook_deliveries set answer = null, answer_head = null
     where (webhook_id, place) in (
       select webhook_id, place from webhook_deliveries
        where webhook_id in (select id from webhooks where account_id = ${accountId})
          and (position('@'::bytea in answer) > 0 or position('@' in answer_head) > 0) limit ${most})`
  return count === most
}

async function searchQueue(
  sql: SqlTransaction,
  { uuid, accountId, requestedAt, queueMessage, queueRecipient }: RequestInWork,
  subjects: readonly Subject[],
): Promise<Progress> {
  const after =
    queueMessage !== null && queueRecipient !== null
      ? { messageId: queueMessage, recipientNo: queueRecipient }
      : undefined
  const keys = subjects.map(({ key }) => key)
  // Waits for those who began to requeue finished deliveries before they could see the request.
  await lockBodies(sql, accountId)
  const { found, next } = await findQueued(sql, { accountId, keys, until: requestedAt, after })
  await sql`
    insert into forget_messages (request_id, subject_no, message_id)
    select ${uuid}, subject_no, message_id
      from unnest(${found.map(({ key }) => keys.indexOf(key))}::int[], ${found.map(({ messageId }) => messageId)}::uuid[])
           as f(subject_no, message_id)
    on conflict do nothing`
  return next ? { queueMessage: next.messageId, queueRecipient: next.recipientNo } : { stage: 'finished' }
}

async function eraseFinished(
  sql: SqlTransaction,
  request: RequestInWork,
  subjects: readonly Subject[],
): Promise<Progress> {
  const { accountId, requestedAt, subjectNo } = request
  for (const [at, subject] of subjects.slice(subjectNo, subjectNo + SUBJECTS).entries()) {
    const found = await findFinished(sql, { accountId, key: subject.key, until: requestedAt, limit: request.batchSize })
    if (found.length === 0) continue
    const touched = await eraseMessages(sql, request, { subjectNo: subjectNo + at, subject, messages: firstFew(found) })
    return { subjectNo: subjectNo + at, touched }
  }
  const next = subjectNo + SUBJECTS
  return next < subjects.length ? { subjectNo: next } : { stage: 'waiting' }
}

async function eraseQueued(
  sql: SqlTransaction,
  request: RequestInWork,
  subjects: readonly Subject[],
): Promise<Progress> {
  const waiting = await selectWaiting(sql, request, subjects)
  const [oldest] = waiting
  if (!oldest) return { stage: 'last' }
  const ripe = waiting.filter((message) => message.ripe)
  const subjectNo = ripe[0]?.subjectNo
  if (subjectNo === undefined) {
    await recordCheck(sql, request.uuid, waiting)
    return { again: waiting.length === request.batchSize && !oldest.fresh ? 0 : await secondsUntilIdle(sql, waiting) }
  }
  const own = ripe.filter((message) => message.subjectNo === subjectNo)
  const subject = subjects[subjectNo] as Subject
  return { touched: await eraseMessages(sql, request, { subjectNo, subject, messages: firstFew(own) }) }
}

interface WaitingMessage extends FoundMessage {
  readonly subjectNo: number
  /** Whether a change requires another erasure. */
  readonly ripe: boolean
  /** Whether it was checked within the maximum interval. */
  readonly fresh: boolean
}

/** Returns the unfinished messages that were checked longest ago, ordered by id. */
async function selectWaiting(
  sql: SqlTransaction,
  { uuid, batchSize }: RequestInWork,
  subjects: readonly Subject[],
): Promise<WaitingMessage[]> {
  return sql<WaitingMessage[]>`
    select f.subject_no as "subjectNo", m.id, m.accepted_at as "acceptedAt", m.recipients, m.size,
           coalesce(f.looked_at > service_now() - make_interval(secs => ${CHECK_INTERVAL.max}), false) as fresh,
           f.looked_at is null or not exists (select from delivery_queue q where q.message_id = f.message_id)
             or (f.held and coalesce((select bool_or(q.worker_id is null) from delivery_queue q
                                       where q.message_id = f.message_id and q.recipient_key = k.key), true)) as ripe
      from (select subject_no, message_id, held, looked_at from forget_messages where request_id = ${uuid}
             order by looked_at nulls first limit ${batchSize}) f
      join unnest(${subjects.map(({ key }) => key)}::text[]) with ordinality as k(key, number) on k.number = f.subject_no + 1
      join messages m on m.id = f.message_id
     order by m.id`
}

async function recordCheck(sql: SqlTransaction, uuid: string, waiting: readonly WaitingMessage[]): Promise<void> {
  await sql`
    update forget_messages f set looked_at = service_now()
      from unnest(${waiting.map(({ subjectNo }) => subjectNo)}::int[], ${waiting.map(({ id }) => id)}::uuid[]) as w(subject_no, id)
     where f.request_id = ${uuid} and f.subject_no = w.subject_no and f.message_id = w.id`
}

/** Returns the seconds until the first of these deliveries is due, within the limits. */
async function secondsUntilIdle(sql: SqlTransaction, messages: readonly FoundMessage[]): Promise<number> {
  const { min, max } = CHECK_INTERVAL
  const [row] = await sql<{ seconds: number | null }[]>`
    select extract(epoch from min(case when q.worker_id is null then q.next_at end) - service_now())::float8 as seconds
      from unnest(${messages.map(({ id }) => id)}::uuid[]) as w(id) join delivery_queue q on q.message_id = w.id
    having bool_and(q.worker_id is null)`
  return Math.min(Math.max(row?.seconds ?? min, min), max)
}

/** Erases a recipient from messages and records which messages must be checked again. */
async function eraseMessages(
  sql: SqlTransaction,
  { uuid, accountId }: RequestInWork,
  { subjectNo, subject, messages }: { subjectNo: number; subject: Subject; messages: readonly FoundMessage[] },
): Promise<Partial<Receipt>> {
  const { touched, done, more } = await eraseBatch(sql, { accountId, subject, messages })
  const open = messages.map(({ id }) => id).filter((id) => !done.includes(id))
  await sql`
    delete from forget_messages
     where request_id = ${uuid} and subject_no = ${subjectNo} and message_id = any(${done}::uuid[])`
  await sql`
    insert into forget_messages (request_id, subject_no, message_id, held, looked_at)
    select ${uuid}, ${subjectNo}, o.id,
           exists (select from delivery_queue q where q.message_id = o.id and q.recipient_key = ${subject.key}),
           -- Never looked at: the next batch of the stage 'waiting' erases from it again.
           case when ${!more} then service_now() end
      from unnest(${open}::uuid[]) as o(id)
    on conflict (request_id, subject_no, message_id) do update set held = excluded.held, looked_at = excluded.looked_at`
  return touched
}
