import type { DeliveryClass } from '../../accounts/mail-class.ts'
import { lossOf } from '../../domains/loss.ts'
import { type AnySql, onlyRow } from '../../platform/database/database.ts'
import { isUsable } from '../../platform/database/replication/recovery-target.ts'
import { type LookedUp, matchingSuppression } from '../../suppressions/store.ts'
import { SESSION_STAGES } from '../outcomes/outcome.ts'
import type { FlowShare } from './flows.ts'
import { WOKEN } from './wake-unreached.ts'

/** A claimed delivery. This worker holds its lease, and the result must carry the number `attempt`. */
export interface ClaimedDelivery {
  /** UUID. */
  readonly messageId: string
  readonly recipientNo: number
  readonly accountId: number
  readonly class: DeliveryClass
  readonly attempt: number
  readonly recipient: string
  readonly recipientDomain: string
  readonly personal: unknown
  /** The unsubscribe group of the message; null if it has none. */
  readonly groupId: number | null
  /** The suppression lists that the message bypasses; null if none. */
  readonly bypass: readonly string[] | null
  /** The pool of sources that the operator has chosen for it; null if none. */
  readonly poolId: number | null
  /** After an indeterminate attempt, the only host that this attempt may use; otherwise null. */
  readonly onlyHost: string | null
  /** The host with which its attempt begins; null: the best one of its domain. */
  readonly nextHost: string | null
  /** The reason if the recipient was suppressed after the message was accepted; otherwise null. */
  readonly suppression: string | null
  /** Due time for the claim cursor, in milliseconds since 1970. */
  readonly dueAt: number
  /** Time until which it is tried, in milliseconds since 1970. */
  readonly expiresAt: number
  /** Milliseconds from the claim until then; negative if it has passed. */
  readonly lifetimeLeft: number
  /** The operator held it until the end of its lifetime: it is not sent. */
  readonly isHeld: boolean
  /** How often a worker died with this delivery in flight. */
  readonly abandoned: number
}

export interface ClaimOptions {
  readonly workerId: number
  /** The flows to claim from, and how much of each. */
  readonly shares: readonly FlowShare[]
  /** If given, mail that is parked at this destination is claimed, whenever it is due: the destination has capacity again. */
  readonly place?: string
}

/**
 * Claims due deliveries of the given flows, of each the oldest first, skipping those that other workers are claiming. The claim is
 * committed when this function returns. A worker that was presumed dead gets nothing, because its row is deleted. The row is locked
 * here against a concurrent takeover, so that no delivery is claimed for a worker that no longer exists; only if there is mail to claim, since
 * the lock is a write.
 *
 * The commit does not wait for the disk. The record of end of data does, and with it all that was written before, so no mail was sent by a
 * claim that a crash of the database loses. It can be claimed again under the same attempt number, by the same worker, too, which then
 * continues what it has in flight.
 *
 * Nothing is claimed from a queue that was restored to an earlier moment and is not held yet: a worker that was running while the server was
 * replaced would send what may have been delivered since.
 *
 * While another session holds an old snapshot open, dead rows accumulate at the head of a flow; with `dueFrom` a claim starts after
 * them.
 */
export async function claimDeliveries(sql: AnySql, options: ClaimOptions): Promise<ClaimedDelivery[]> {
  const { workerId, shares, place } = options
  const flow = sql`
    unnest(${shares.map(({ accountId }) => accountId)}::int[], ${shares.map((share) => share.class)}::int[],
           ${shares.map(({ limit }) => limit)}::int[], ${shares.map(({ dueFrom }) => new Date(dueFrom ?? 0).toISOString())}::text[]::timestamptz[])
      with ordinality as flow(account_id, class, most, since, no)`
  const where =
    place === undefined
      ? sql`next_at <= service_now() and next_at >= flow.since`
      : sql`place = ${place} and place is not null`
  const suppression = matchingSuppression(sql, queued(sql), sql`s.reason`)
  return sql<ClaimedDelivery[]>`
    with due as materialized (
      select found.* from ${flow} cross join lateral (
        select message_id, recipient_no, waiting_for from delivery_queue
         where worker_id is null and account_id = flow.account_id and class = flow.class::smallint and ${where}
         order by next_at limit flow.most
         for update skip locked) found
    ), worker as materialized (
      select id, set_config('synchronous_commit', 'off', true) from workers
       where id = ${workerId} and exists (select from due) and ${isUsable(sql)} for key share)
    update delivery_queue q
       set worker_id = worker.id, state = 'sending', attempt = q.attempt + 1, alone = false, place = null,
           unreached = case when q.unreached = ${WOKEN} then q.unreached end,
           -- A hold lasts until the outcome is recorded: whatever happens to this worker before that, what is held is not sent.
           waiting_for = case when due.waiting_for = 'hold' then 'hold' end
      from due, worker where q.message_id = due.message_id and q.recipient_no = due.recipient_no
    returning q.message_id as "messageId", q.recipient_no as "recipientNo", q.account_id as "accountId", q.class, q.attempt,
              q.recipient, q.recipient_domain as "recipientDomain", q.personal, q.group_id as "groupId", q.bypass, q.pool_id as "poolId",
              q.only_host as "onlyHost", q.next_host as "nextHost", q.abandoned,
              due.waiting_for is not distinct from 'hold' as "isHeld", (${suppression} limit 1) as suppression,
              floor(extract(epoch from q.next_at) * 1000)::float8 as "dueAt",
              floor(extract(epoch from q.expires_at) * 1000)::float8 as "expiresAt",
              floor(extract(epoch from q.expires_at - service_now()) * 1000)::float8 as "lifetimeLeft"`
}

export interface DeliveryKey {
  readonly messageId: string
  readonly recipientNo: number
  readonly attempt: number
}

/*
 * The worker of a delivery is compared with `is not distinct from`, which cannot use an index. With `=` the planner would use
 * `delivery_queue_worker` instead of the key, and read all deliveries of the worker for each row.
 */

/** Releases claimed deliveries without an attempt: the attempt does not count. They are due again after `seconds`. */
export async function releaseDeliveries(
  sql: AnySql,
  workerId: number,
  deliveries: readonly DeliveryKey[],
  seconds: number,
): Promise<void> {
  if (deliveries.length === 0) return
  await sql`
    update delivery_queue q
       set worker_id = null, attempt = q.attempt - 1, state = case when q.attempt = 1 then 'queued' else 'deferred' end,
           next_at = service_now() + make_interval(secs => ${seconds}), dot_at = null, dot_host = null
      from unnest(${deliveries.map((d) => d.messageId)}::uuid[], ${deliveries.map((d) => d.recipientNo)}::int[],
                  ${deliveries.map((d) => d.attempt)}::int[]) as r(message_id, recipient_no, attempt)
     where q.message_id = r.message_id and q.recipient_no = r.recipient_no and q.attempt = r.attempt
       and q.worker_id is not distinct from ${workerId}`
}

/** Returns all deliveries claimed by this worker, including those of a claim whose response was lost. */
export async function claimedDeliveries(sql: AnySql, workerId: number): Promise<DeliveryKey[]> {
  return sql<DeliveryKey[]>`
    select message_id as "messageId", recipient_no as "recipientNo", attempt from delivery_queue where worker_id = ${workerId}`
}

export interface EndOfData extends DeliveryKey {
  readonly workerId: number
  readonly host: string
  /** The message's sending domain. */
  readonly domainId: number
}

/**
 * Whether end of data may be sent. False: the lease is lost. A reason: since the claim the recipient was suppressed or the
 * sending domain lost.
 */
export type SendPermission = boolean | { readonly reason: string }

/**
 * Records that end of data (the final dot) of these attempts is about to be sent. Returns for each attempt whether it may be:
 * the lease must be valid, the recipient not suppressed and the sending domain not lost. If the worker dies after this, the
 * attempt counts as indeterminate.
 *
 * The record is flushed to disk before this function returns. If it were lost in a crash that hits both database and worker, a
 * duplicate would not be marked as indeterminate (docs/decisions/0014-durable-dot-notes.md).
 */
export async function recordEndOfData(sql: AnySql, ends: readonly EndOfData[]): Promise<SendPermission[]> {
  const rows = await sql<{ at: number; denied: boolean }[]>`
    update delivery_queue q
       set (dot_at, dot_host) = (select service_now(), r.host
                               where not exists (${holdingQueued(sql, sql`1`)}) and ${lossOf(sql, sql`r.domain_id`)} is null)
      from unnest(${ends.map((d) => d.messageId)}::uuid[], ${ends.map((d) => d.recipientNo)}::int[],
                  ${ends.map((d) => d.attempt)}::int[], ${ends.map((d) => d.workerId)}::int[], ${ends.map((d) => d.host)}::text[],
                  ${ends.map((d) => d.domainId)}::int[])
             with ordinality as r(message_id, recipient_no, attempt, worker_id, host, domain_id, at)
     where q.message_id = r.message_id and q.recipient_no = r.recipient_no and q.attempt = r.attempt
       and q.worker_id is not distinct from r.worker_id
    returning r.at::int as at, q.dot_at is null as denied`
  const denied = rows.filter(({ denied }) => denied).map(({ at }) => at)
  const reasons = denied.length > 0 ? await reasonsOf(sql, ends, denied) : undefined
  const permissions = new Map(rows.map(({ at }) => [at, reasons?.get(at) ?? true]))
  return ends.map((_end, at) => permissions.get(at + 1) ?? false)
}

/** Returns why end of data may not be sent. A separate query: such deliveries are rare, and reasons would slow every statement. */
async function reasonsOf(
  sql: AnySql,
  ends: readonly EndOfData[],
  denied: readonly number[],
): Promise<Map<number, SendPermission>> {
  const queried = denied.map((at) => ends[at - 1] as EndOfData)
  const rows = await sql<{ at: number; reason: string | null }[]>`
    select r.at, coalesce((${holdingQueued(sql, sql`s.reason`)} limit 1), ${lossOf(sql, sql`r.domain_id`)}) as reason
      from unnest(${[...denied]}::int[], ${queried.map((d) => d.messageId)}::uuid[], ${queried.map((d) => d.recipientNo)}::int[],
                  ${queried.map((d) => d.domainId)}::int[])
           as r(at, message_id, recipient_no, domain_id) join delivery_queue q using (message_id, recipient_no)`
  const reasons = new Map(rows.map(({ at, reason }) => [at, reason]))
  // If the entry was removed between the two statements, end of data is not recorded all the same: report it as suppressed.
  return new Map(denied.map((at) => [at, { reason: reasons.get(at) ?? 'manual' }]))
}

function holdingQueued(
  sql: AnySql,
  columns: Parameters<typeof matchingSuppression>[2],
): ReturnType<typeof matchingSuppression> {
  return matchingSuppression(sql, queued(sql), columns)
}

function queued(sql: AnySql): LookedUp {
  return {
    account: sql`q.account_id`,
    key: sql`q.recipient_key`,
    domain: sql`q.recipient_domain`,
    group: sql`q.group_id`,
    bypass: sql`q.bypass`,
  }
}

/** The attempts of a delivery, as far as the next one depends on them. */
export interface AttemptsSoFar {
  /** Whether one of them got beyond the beginning of a session. */
  readonly hadSession: boolean
  /** Where the last one was; null if it reached no destination. */
  readonly lastPlace: string | null
}

export async function attemptsSoFar(sql: AnySql, messageId: string, recipientNo: number): Promise<AttemptsSoFar> {
  return onlyRow(
    await sql<AttemptsSoFar[]>`
      select coalesce(bool_or(stage <> all(${[...SESSION_STAGES]}::text[])), false) as "hadSession",
             (array_agg(place order by attempt desc))[1] as "lastPlace"
        from attempts where message_id = ${messageId}::uuid and recipient_no = ${recipientNo}::int`,
  )
}
