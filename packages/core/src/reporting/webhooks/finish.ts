import { noteChange, OPERATOR } from '../../accounts/audit/index.ts'
import { noteOwners } from '../../accounts/notices/note-owners.ts'
import { insertEvents, ofAccount } from '../../events/insert-events.ts'
import { onlyRow, type Sql, type SqlTransaction } from '../../platform/database/database.ts'
import { HIDDEN, isSecretName, notedUrl } from './rules.ts'
import { askedPause, DISABLE_AFTER, GIVE_UP_AFTER, pauseAfter } from './schedule.ts'
import { RETENTION_DAYS, RING } from './store.ts'
import type { Answer, Exchange, LeasedBatch } from './webhook.ts'

/** Long responses per hour that are stored whole, and octets of the others. Receivers would otherwise decide how much is stored. */
const LONG_ANSWERS = 100
const SHORT_ANSWER = 256
/** Header fields of a response that are stored, in characters. */
const MAX_HEAD = 4096
const MAX_DEAD = 1000
const DEAD_DAYS = 30
/** Old requests that are deleted at once. */
const FORGOTTEN = 1000

/** The result of a batch. `late` means that this worker's lease had expired. */
export type Finished = 'delivered' | 'waiting' | 'dead' | 'disabled' | 'late'

/** A request that was made, and the response. */
type Request = Answer & { readonly exchange: Exchange }

interface State {
  readonly enabled: boolean
  /** Seconds for which the webhook has been failing; null if it is not. */
  readonly failing: number | null
  /** Whether other batches have succeeded since this batch last failed. */
  readonly othersPass: boolean
  readonly aside: boolean
  /** Seconds for which this batch has been failing. */
  readonly lasting: number
}

/**
 * Records the response to a batch and determines what happens next with batch and webhook, in one transaction. Undefined if no request was made, because no
 * event of the batch is to be reported.
 */
export async function finishBatch(sql: Sql, batch: LeasedBatch, request: Request | undefined): Promise<Finished> {
  return sql.begin(async (transaction) => {
    await lockWebhookOf(transaction, batch)
    const [state] = await transaction<State[]>`
      select w.enabled, extract(epoch from service_now() - w.failing_since)::float8 as failing,
             coalesce(w.succeeded_at > b.failed_at, false) as "othersPass", b.aside,
             coalesce(extract(epoch from service_now() - b.failed_since), 0)::float8 as lasting
        from webhook_batches b join webhooks w on w.id = b.webhook_id
       where b.id = ${batch.id} and b.lease = ${batch.lease} and b.state = 'waiting' for update of b`
    if (!state) return 'late'
    if (!request) return drop(transaction, batch)
    await logRequest(transaction, batch, request)
    return request.problem === undefined
      ? succeed(transaction, batch, request, state)
      : fail(transaction, batch, request, state)
  }) as Promise<Finished>
}

/** Releases a batch without counting an attempt, for the next claim. */
export async function releaseBatch(sql: Sql, batch: LeasedBatch): Promise<void> {
  await sql.begin(async (transaction) => {
    await lockWebhookOf(transaction, batch)
    await transaction`
      with released as (
        update webhook_batches set leased_until = null, next_at = service_now()
         where id = ${batch.id} and lease = ${batch.lease} and state = 'waiting' returning webhook_id)
      update webhooks set due_at = service_now() where id in (select webhook_id from released)`
  })
}

/** Before its batches, as a claim does: others change all batches of a webhook that they have locked. */
async function lockWebhookOf(sql: SqlTransaction, { webhookId }: LeasedBatch): Promise<void> {
  await sql`select 1 from webhooks where id = ${webhookId} for update`
}

/** Deletes a batch. The last waiting batch ends the failing state, because otherwise the webhook would never be probed again. */
async function drop(sql: SqlTransaction, { id, webhookId }: LeasedBatch): Promise<Finished> {
  await sql`delete from webhook_batches where id = ${id}`
  await sql`
    update webhooks
       set due_at = service_now(),
           failing_since = case when exists (select from webhook_batches where webhook_id = ${webhookId} and state = 'waiting')
                                then failing_since end
     where id = ${webhookId}`
  return 'delivered'
}

async function succeed(
  sql: SqlTransaction,
  { id, webhookId }: LeasedBatch,
  { milliseconds }: Answer,
  { failing }: State,
): Promise<Finished> {
  await sql`
    with done as (delete from webhook_batches where id = ${id})
    update webhooks set succeeded_at = service_now(), failing_since = null, milliseconds = ${milliseconds}, due_at = service_now(),
           problem = case when enabled then null else problem end
     where id = ${webhookId}`
  // The receiver has recovered: retry the waiting batches immediately.
  if (failing !== null)
    await sql`update webhook_batches set next_at = service_now() where webhook_id = ${webhookId} and state = 'waiting'`
  return 'delivered'
}

async function fail(sql: SqlTransaction, batch: LeasedBatch, answer: Answer, state: State): Promise<Finished> {
  const { id, webhookId } = batch
  const requested = askedPause(answer.retryAfter, Date.now())
  // If the receiver asks for fewer requests, the batch itself is not the cause.
  const aside = state.aside || (state.othersPass && answer.status !== 429 && requested === 0)
  const dead = aside && state.failing === null && state.lasting >= GIVE_UP_AFTER
  const pause = Math.max(pauseAfter(state.lasting, Math.random()), requested)
  const problem = answer.problem ?? ''
  await sql`
    update webhook_batches
       set attempts = attempts + 1, aside = ${aside}, state = ${dead ? 'dead' : 'waiting'}, leased_until = null,
           problem = ${problem}, failed_since = coalesce(failed_since, service_now()), failed_at = service_now(),
           next_at = service_now() + make_interval(secs => ${pause})
     where id = ${id}`
  if (dead) await deleteOldDead(sql, webhookId)
  if (answer.status === 410) return disable(sql, batch, state, 'gone', 'received status 410 Gone')
  const failing = state.failing ?? 0
  // The receiver accepts other batches, so the webhook is not failing.
  const batchOnly = aside && state.failing === null
  if (!batchOnly && failing >= DISABLE_AFTER)
    return disable(sql, batch, state, 'failing', `no success in ${Math.floor(failing / 3600)} hours: ${problem}`)
  const next = batchOnly ? 0 : Math.max(pauseAfter(failing, Math.random()), requested)
  await sql`
    update webhooks
       set failing_since = case when ${batchOnly} then null else coalesce(failing_since, service_now()) end,
           held_until = case when ${requested} > 0 then service_now() + make_interval(secs => ${requested}) else held_until end,
           due_at = service_now() + make_interval(secs => ${next}), milliseconds = ${answer.milliseconds},
           problem = case when enabled and not ${batchOnly} then ${problem} else problem end
     where id = ${webhookId}`
  return dead ? 'dead' : 'waiting'
}

/** Disables a webhook until the account enables it. Waiting batches and the position are kept. */
async function disable(
  sql: SqlTransaction,
  { accountId, webhookId }: LeasedBatch,
  { enabled }: State,
  why: 'gone' | 'failing',
  reason: string,
): Promise<Finished> {
  // Several requests may be in flight; only the first one disables the webhook.
  if (!enabled) return 'waiting'
  const { url } = onlyRow(
    await sql<{ url: string }[]>`
      update webhooks set enabled = false, disabled_at = service_now(), disabled_reason = ${why}, problem = ${reason}
       where id = ${webhookId} returning url`,
  )
  await noteChange(sql, {
    accountId,
    by: OPERATOR,
    action: 'webhook.disable',
    object: `webhook ${webhookId}`,
    before: { enabled: true },
    after: { enabled: false, reason },
  })
  const detail = { webhook: webhookId, url: notedUrl(url), reason }
  // For the other webhooks of the account.
  await insertEvents(sql, { from: ofAccount(sql, accountId), type: 'webhook_disabled', detail })
  await noteOwners(sql, [{ accountId, kind: 'webhook', subject: String(webhookId), detail }])
  return 'disabled'
}

async function logRequest(
  sql: SqlTransaction,
  batch: LeasedBatch,
  { status, milliseconds, problem, exchange }: Request,
): Promise<void> {
  const { events, written, head, answerHead, answer } = exchange
  const failed = problem !== undefined
  const isLong = answer.length > SHORT_ANSWER
  await sql`
    with counted as (
      update webhooks
         set failed = failed + ${failed ? 1 : 0}, succeeded = succeeded + ${failed ? 0 : 1},
             answers_kept = case when answers_hour = date_trunc('hour', service_now(), 'UTC') then answers_kept else 0 end + ${isLong ? 1 : 0},
             answers_hour = date_trunc('hour', service_now(), 'UTC')
       where id = ${batch.webhookId} returning case when ${failed} then failed else succeeded end as number, answers_kept
    )
    insert into webhook_deliveries as d (webhook_id, place, account_id, batch_id, at, after_number, to_number, attempt, status,
           milliseconds, problem, types, written, events, request_head, answer_head, answer)
    select ${batch.webhookId}, ${failed ? RING : 0} + number % ${RING}, ${batch.accountId}, ${batch.id}::uuid, service_now(),
           ${batch.after}, ${batch.to}, ${batch.attempts + 1}, ${status}::int, ${milliseconds},
           ${problem ?? null}::text, ${[...batch.types]}::text[], ${JSON.stringify(written)}::text::jsonb, ${events}::int,
           ${JSON.stringify(head)}::text, ${JSON.stringify(fitting(answerHead))}::text,
           case when answers_kept <= ${LONG_ANSWERS} then ${answer}::bytea else substr(${answer}::bytea, 1, ${SHORT_ANSWER}) end
      from counted
    on conflict (webhook_id, place) do update
       set batch_id = excluded.batch_id, at = excluded.at, after_number = excluded.after_number, to_number = excluded.to_number,
           attempt = excluded.attempt, status = excluded.status, milliseconds = excluded.milliseconds, problem = excluded.problem,
           types = excluded.types, written = excluded.written, events = excluded.events, request_head = excluded.request_head,
           answer_head = excluded.answer_head, answer = excluded.answer`
}

/** Returns the header fields of a response that fit. Values that look like secrets are not stored. */
function fitting(answerHead: readonly string[]): (readonly [name: string, value: string])[] {
  const kept: (readonly [string, string])[] = []
  for (let at = 0, length = 0; at < answerHead.length; at += 2) {
    const [name = '', value = ''] = answerHead.slice(at, at + 2)
    length += name.length + value.length
    if (length > MAX_HEAD) break
    kept.push([name, isSecretName(name) ? HIDDEN : value])
  }
  return kept
}

/** Deletes some requests that are older than a week. Returns their number. */
export async function forgetRequests(sql: Sql): Promise<number> {
  const { count } = await sql`
    delete from webhook_deliveries where (webhook_id, place) in (
      select webhook_id, place from webhook_deliveries
       where at < service_now() - make_interval(days => ${RETENTION_DAYS}) order by at limit ${FORGOTTEN})`
  return count
}

async function deleteOldDead(sql: SqlTransaction, webhookId: number): Promise<void> {
  await sql`
    delete from webhook_batches b using (
      select id, failed_at, row_number() over (order by failed_at desc) as place
        from webhook_batches where webhook_id = ${webhookId} and state = 'dead') dead
     where b.id = dead.id and (dead.place > ${MAX_DEAD} or dead.failed_at < service_now() - make_interval(days => ${DEAD_DAYS}))`
}
