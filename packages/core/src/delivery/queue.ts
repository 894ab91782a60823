import { lossOf } from '../domains/loss.ts'
import type { AnySql } from '../platform/database/database.ts'
import { holding, type LookedUp } from '../suppressions/store.ts'

/** A claimed delivery: this worker holds its lease, and `attempt` is the number its result must carry. */
export interface ClaimedDelivery {
  /** UUID. */
  readonly messageId: string
  readonly recipientNo: number
  readonly accountId: number
  readonly attempt: number
  readonly recipient: string
  readonly recipientDomain: string
  readonly personal: unknown
  /** The unsubscribe group its message names, or null. */
  readonly groupId: number | null
  /** The lists its message bypasses, or null. */
  readonly bypass: readonly string[] | null
  /** After an indeterminate attempt: the only host this one may use. */
  readonly onlyHost: string | null
  /** The recipient was suppressed since accept: the reason. */
  readonly suppression: string | null
  /** Milliseconds since 1970, for the claim cursor. */
  readonly dueAt: number
  /** Milliseconds since 1970: it is tried until then. */
  readonly expiresAt: number
  /** How often a worker was lost with it in hand. */
  readonly abandoned: number
}

export interface ClaimOptions {
  readonly workerId: number
  readonly limit: number
  /** Only what is due at or after this (milliseconds since 1970): the claim cursor. Undefined: from the head. */
  readonly dueFrom?: number | undefined
  /** Leave these recipient domains alone: their sites have no room. */
  readonly exceptDomains?: readonly string[]
  /** Only these recipient domains: their sites have room again. */
  readonly onlyDomains?: readonly string[]
}

/**
 * Takes due deliveries, oldest first, skipping what others are taking; committed when it answers. A worker that was taken over
 * gets nothing: its row is gone, and locked here against a take-over that runs at the same moment, so that nobody holds what
 * nobody would look for.
 *
 * Under a snapshot that some other session holds open, dead rows pile up at the head of the index; `dueFrom` lets a claim
 * start behind them.
 */
export async function claimDeliveries(sql: AnySql, options: ClaimOptions): Promise<ClaimedDelivery[]> {
  const { workerId, limit, dueFrom, exceptDomains = [], onlyDomains } = options
  const due = onlyDomains
    ? sql`
      select found.* from unnest(${[...onlyDomains]}::text[]) as wanted(domain)
       cross join lateral (
         select message_id, recipient_no from delivery_queue
          where worker_id is null and recipient_domain = wanted.domain and next_at <= service_now()
          order by next_at limit ${limit}
          for update skip locked) found
       limit ${limit}`
    : sql`
      select message_id, recipient_no from delivery_queue
       where worker_id is null and next_at <= service_now() and next_at >= ${new Date(dueFrom ?? 0)}
             and recipient_domain <> all(${[...exceptDomains]}::text[])
       order by next_at limit ${limit}
       for update skip locked`
  const suppression = holding(sql, queued(sql), sql`s.reason`)
  return sql<ClaimedDelivery[]>`
    with worker as materialized (select id from workers where id = ${workerId} for key share), due as materialized (${due})
    update delivery_queue q
       set worker_id = worker.id, state = 'sending', attempt = q.attempt + 1, alone = false
      from due, worker where q.message_id = due.message_id and q.recipient_no = due.recipient_no
    returning q.message_id as "messageId", q.recipient_no as "recipientNo", q.account_id as "accountId", q.attempt,
              q.recipient, q.recipient_domain as "recipientDomain", q.personal, q.group_id as "groupId", q.bypass,
              q.only_host as "onlyHost", q.abandoned, (${suppression} limit 1) as suppression,
              floor(extract(epoch from q.next_at) * 1000)::float8 as "dueAt",
              floor(extract(epoch from q.expires_at) * 1000)::float8 as "expiresAt"`
}

export interface DeliveryKey {
  readonly messageId: string
  readonly recipientNo: number
  readonly attempt: number
}

/*
 * Whoever holds a delivery is compared by `is not distinct from`, which no index serves: asked with `=`, the planner finds rows
 * by `delivery_queue_worker` rather than by their key, and reads all that the worker holds for each one of them.
 */

/** Gives claimed deliveries back untried: the attempt does not count. `seconds` until they are due again. */
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

/** What this worker holds by the database's account; after a claim whose answer was lost, more than the worker knows of. */
export async function heldDeliveries(sql: AnySql, workerId: number): Promise<DeliveryKey[]> {
  return sql<DeliveryKey[]>`
    select message_id as "messageId", recipient_no as "recipientNo", attempt from delivery_queue where worker_id = ${workerId}`
}

export interface Dot extends DeliveryKey {
  readonly workerId: number
  readonly host: string
  /** The message's sending domain. */
  readonly domainId: number
}

/**
 * May the final dot be written? False: the lease is gone. A reason: since the claim the recipient was suppressed, or the sending
 * domain lost.
 */
export type DotLeave = boolean | { readonly reason: string }

/**
 * Notes that the final dot of these attempts is about to be written, and answers for which the lease still stands, nothing
 * holds the recipient and the domain is not lost: no dot without all three. If the worker is lost after this, the attempt counts
 * as indeterminate.
 *
 * On the disk when it answers: were the note lost with a database that falls together with the worker, an extra copy would not be
 * marked (docs/decisions/0014-durable-dot-notes.md).
 */
export async function markDots(sql: AnySql, dots: readonly Dot[]): Promise<DotLeave[]> {
  const rows = await sql<{ at: number; held: boolean }[]>`
    update delivery_queue q
       set (dot_at, dot_host) = (select service_now(), r.host
                               where not exists (${holdingQueued(sql, sql`1`)}) and ${lossOf(sql, sql`r.domain_id`)} is null)
      from unnest(${dots.map((d) => d.messageId)}::uuid[], ${dots.map((d) => d.recipientNo)}::int[],
                  ${dots.map((d) => d.attempt)}::int[], ${dots.map((d) => d.workerId)}::int[], ${dots.map((d) => d.host)}::text[],
                  ${dots.map((d) => d.domainId)}::int[])
             with ordinality as r(message_id, recipient_no, attempt, worker_id, host, domain_id, at)
     where q.message_id = r.message_id and q.recipient_no = r.recipient_no and q.attempt = r.attempt
       and q.worker_id is not distinct from r.worker_id
    returning r.at::int as at, q.dot_at is null as held`
  const held = rows.filter(({ held }) => held).map(({ at }) => at)
  const reasons = held.length > 0 ? await reasonsOf(sql, dots, held) : undefined
  const standing = new Map(rows.map(({ at }) => [at, reasons?.get(at) ?? true]))
  return dots.map((_dot, at) => standing.get(at + 1) ?? false)
}

/** Why no dot was noted, asked for these only: as a rule there are none, and the answer would cost every statement. */
async function reasonsOf(sql: AnySql, dots: readonly Dot[], held: readonly number[]): Promise<Map<number, DotLeave>> {
  const asked = held.map((at) => dots[at - 1] as Dot)
  const rows = await sql<{ at: number; reason: string | null }[]>`
    select r.at, coalesce((${holdingQueued(sql, sql`s.reason`)} limit 1), ${lossOf(sql, sql`r.domain_id`)}) as reason
      from unnest(${[...held]}::int[], ${asked.map((d) => d.messageId)}::uuid[], ${asked.map((d) => d.recipientNo)}::int[],
                  ${asked.map((d) => d.domainId)}::int[])
           as r(at, message_id, recipient_no, domain_id) join delivery_queue q using (message_id, recipient_no)`
  const reasons = new Map(rows.map(({ at, reason }) => [at, reason]))
  // An entry that was taken off in between held all the same: no dot is noted.
  return new Map(held.map((at) => [at, { reason: reasons.get(at) ?? 'manual' }]))
}

function holdingQueued(sql: AnySql, columns: Parameters<typeof holding>[2]): ReturnType<typeof holding> {
  return holding(sql, queued(sql), columns)
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
