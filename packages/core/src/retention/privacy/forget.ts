import { isDatabaseTrouble, isTimeout, type Sql, type SqlTransaction } from '../../platform/database/database.ts'
import type { Secrets } from '../../platform/secrets.ts'
import type { Forgotten } from '../../suppressions/forgotten.ts'
import { type FoundMessage, findFinished, findQueued, firstFew } from './find.ts'
import { announceHashes, hashSuppressions } from './opt-outs.ts'
import type { Progress, Receipt, RequestInWork, Subject } from './request.ts'
import { postpone, saveProgress, takeRequest } from './store.ts'
import { sweep } from './sweep.ts'
import { foldTagNames } from './tag-names.ts'

/**
 * Milliseconds that a statement of a batch may take: events of all accounts get no numbers before the transaction is over
 * (reporting/events/sequencer.ts). A batch of one message has as long as any statement.
 */
const STATEMENT_MS = 2000
/** People looked for in one transaction, if nothing is found of them. */
const SUBJECTS = 50
/** Seconds a request waits whose batch failed: by the database's trouble, by our fault. */
const AFTER_FAILURE = { passing: 1, fault: 30 } as const
/** Seconds between looks at messages whose delivery has not come to an end. */
const LOOK_EVERY = { least: 1, most: 10 } as const

export interface ForgetDependencies {
  readonly sql: Sql
  readonly secrets: Secrets
  readonly forgotten: Forgotten
}

export function sealSubjects(secrets: Secrets, uuid: string, subjects: readonly Subject[]): Buffer {
  return secrets.seal(Buffer.from(JSON.stringify(subjects)), `forget request ${uuid}`)
}

/**
 * Does one batch of the request that has waited longest, in one short transaction that also says how far the request is: whoever
 * is killed leaves nothing half done, and the next one goes on there. Answers false when nothing is due.
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
    const { passing, fault } = AFTER_FAILURE
    const halve = isTimeout(error)
    if (taken) await postpone(sql, taken.uuid, isDatabaseTrouble(error) ? passing : fault, { halve }).catch(() => {})
    throw error
  }
}

type Act = (
  sql: SqlTransaction,
  request: RequestInWork,
  subjects: readonly Subject[],
  dependencies: ForgetDependencies,
) => Promise<Progress>

const STAGES: Readonly<Record<RequestInWork['stage'], Act>> = {
  suppressions: announceHashes,
  queue: searchQueue,
  finished: sweepFinished,
  waiting: sweepWaiting,
  async last(sql, request, subjects, { forgotten }) {
    await foldTagNames(sql, request.accountId, subjects)
    // Those of messages to others.
    await sql`
      delete from idempotency_keys
       where account_id = ${request.accountId} and key = any(${subjects.map(({ key }) => key)}::text[])`
    const progress = await hashSuppressions(sql, request, subjects, forgotten)
    // Dumps of events, which name everybody mail was sent to.
    if (progress.stage === 'done') await sql`select forget_export_files(${request.accountId}::int)`
    return progress
  },
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
  const { found, next } = await findQueued(sql, { accountId, keys, until: requestedAt, after })
  await sql`
    insert into forget_messages (request_id, subject_no, message_id)
    select ${uuid}, subject_no, message_id
      from unnest(${found.map(({ key }) => keys.indexOf(key))}::int[], ${found.map(({ messageId }) => messageId)}::uuid[])
           as f(subject_no, message_id)
    on conflict do nothing`
  return next ? { queueMessage: next.messageId, queueRecipient: next.recipientNo } : { stage: 'finished' }
}

async function sweepFinished(
  sql: SqlTransaction,
  request: RequestInWork,
  subjects: readonly Subject[],
): Promise<Progress> {
  const { accountId, requestedAt, subjectNo } = request
  for (const [at, subject] of subjects.slice(subjectNo, subjectNo + SUBJECTS).entries()) {
    const found = await findFinished(sql, { accountId, key: subject.key, until: requestedAt, limit: request.batchSize })
    if (found.length === 0) continue
    const touched = await sweepAndNote(sql, request, { subjectNo: subjectNo + at, subject, messages: firstFew(found) })
    return { subjectNo: subjectNo + at, touched }
  }
  const next = subjectNo + SUBJECTS
  return next < subjects.length ? { subjectNo: next } : { stage: 'waiting' }
}

async function sweepWaiting(
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
    await noteLook(sql, request.uuid, waiting)
    return { again: waiting.length === request.batchSize && !oldest.fresh ? 0 : await secondsToRest(sql, waiting) }
  }
  const own = ripe.filter((message) => message.subjectNo === subjectNo)
  const subject = subjects[subjectNo] as Subject
  return { touched: await sweepAndNote(sql, request, { subjectNo, subject, messages: firstFew(own) }) }
}

interface WaitingMessage extends FoundMessage {
  readonly subjectNo: number
  /** Something has changed that is worth a sweep. */
  readonly ripe: boolean
  /** It was looked at a moment ago. */
  readonly fresh: boolean
}

/** Those that were looked at longest ago, in the order of their ids. */
async function selectWaiting(
  sql: SqlTransaction,
  { uuid, batchSize }: RequestInWork,
  subjects: readonly Subject[],
): Promise<WaitingMessage[]> {
  return sql<WaitingMessage[]>`
    select f.subject_no as "subjectNo", m.id, m.accepted_at as "acceptedAt", m.recipients, m.size,
           coalesce(f.looked_at > service_now() - make_interval(secs => ${LOOK_EVERY.most}), false) as fresh,
           f.looked_at is null or not exists (select from delivery_queue q where q.message_id = f.message_id)
             or (f.held and coalesce((select bool_or(q.worker_id is null) from delivery_queue q
                                       where q.message_id = f.message_id and q.recipient_key = k.key), true)) as ripe
      from (select subject_no, message_id, held, looked_at from forget_messages where request_id = ${uuid}
             order by looked_at nulls first limit ${batchSize}) f
      join unnest(${subjects.map(({ key }) => key)}::text[]) with ordinality as k(key, number) on k.number = f.subject_no + 1
      join messages m on m.id = f.message_id
     order by m.id`
}

async function noteLook(sql: SqlTransaction, uuid: string, waiting: readonly WaitingMessage[]): Promise<void> {
  await sql`
    update forget_messages f set looked_at = service_now()
      from unnest(${waiting.map(({ subjectNo }) => subjectNo)}::int[], ${waiting.map(({ id }) => id)}::uuid[]) as w(subject_no, id)
     where f.request_id = ${uuid} and f.subject_no = w.subject_no and f.message_id = w.id`
}

/** When the first of these messages may have come to rest. */
async function secondsToRest(sql: SqlTransaction, messages: readonly FoundMessage[]): Promise<number> {
  const { least, most } = LOOK_EVERY
  const [row] = await sql<{ seconds: number | null }[]>`
    select extract(epoch from min(case when q.worker_id is null then q.next_at end) - service_now())::float8 as seconds
      from unnest(${messages.map(({ id }) => id)}::uuid[]) as w(id) join delivery_queue q on q.message_id = w.id
    having bool_and(q.worker_id is null)`
  return Math.min(Math.max(row?.seconds ?? least, least), most)
}

/** Sweeps, and keeps in mind the messages that must be looked at again. */
async function sweepAndNote(
  sql: SqlTransaction,
  { uuid, accountId }: RequestInWork,
  { subjectNo, subject, messages }: { subjectNo: number; subject: Subject; messages: readonly FoundMessage[] },
): Promise<Partial<Receipt>> {
  const { touched, quiet } = await sweep(sql, { accountId, subject, messages })
  const done = new Set(quiet)
  const open = messages.map(({ id }) => id).filter((id) => !done.has(id))
  await sql`
    delete from forget_messages
     where request_id = ${uuid} and subject_no = ${subjectNo} and message_id = any(${[...done]}::uuid[])`
  await sql`
    insert into forget_messages (request_id, subject_no, message_id, held, looked_at)
    select ${uuid}, ${subjectNo}, o.id,
           exists (select from delivery_queue q where q.message_id = o.id and q.recipient_key = ${subject.key}), service_now()
      from unnest(${open}::uuid[]) as o(id)
    on conflict (request_id, subject_no, message_id) do update set held = excluded.held, looked_at = excluded.looked_at`
  return touched
}
