import { insertEvents } from '../../events/insert-events.ts'
import type { AnySql, Sql } from '../../platform/database/database.ts'
import { NEVER } from '../../platform/never.ts'
import type { DeliveryKey } from '../queue/queue.ts'
import { finishDeliveries } from './finish-deliveries.ts'
import { storedLifetime } from './stored-lifetime.ts'

/** A delivery that crashed workers. It is not claimed again until the operator releases it. */
export interface SetAside {
  /** 32 hex digits. */
  readonly messageId: string
  readonly recipientNo: number
  readonly accountId: number
  readonly attempt: number
  readonly reason: string
  readonly expiresAt: Date
}

/** How often a worker must die while it processes this delivery alone. Once may be chance: workers die for other reasons too. */
const BLAME_LIMIT = 2
const REASON = 'workers died while building this message'
/** Maximum number of deliveries listed. */
const MAX_LISTED = 1000

type Named = Pick<DeliveryKey, 'messageId' | 'recipientNo'>

/**
 * Records that this worker now processes `now`, alone among the deliveries with which workers died before, and has finished
 * `before`. The record is durable when this function returns, because a message that crashes the worker does so right after.
 */
export async function noteAlone(sql: AnySql, workerId: number, now: Named | undefined, before: Named | undefined) {
  const named = [now, before].filter((one) => one !== undefined)
  if (named.length === 0) return
  await sql`
    update delivery_queue q set alone = r.alone
      from unnest(${named.map(({ messageId }) => messageId)}::uuid[], ${named.map(({ recipientNo }) => recipientNo)}::int[],
                  ${named.map((one) => String(one === now))}::text[]::boolean[]) as r(message_id, recipient_no, alone)
     where q.message_id = r.message_id and q.recipient_no = r.recipient_no and q.worker_id is not distinct from ${workerId}`
}

/**
 * Part of the takeover statement, in which `old` is the row before the update. After end of data the message was built, so it is
 * not the cause.
 */
export function evaluatedAside(sql: AnySql) {
  const blamed = sql`old.blamed + (old.alone and old.dot_at is null)::int`
  return {
    columns: sql`alone = false, blamed = ${blamed},
                 set_aside = case when ${blamed} >= ${BLAME_LIMIT} then ${REASON}::text else q.set_aside end`,
    /**
     * The next due time: never if it is set aside, until it is released; otherwise after a minute, so that a message that crashes
     * workers does not crash all of them at once.
     */
    nextAt: sql`when ${blamed} >= ${BLAME_LIMIT} then ${NEVER}::timestamptz
                when old.alone and old.dot_at is null then service_now() + interval '1 minute'`,
  }
}

/** Returns the deliveries that are set aside, at most 1000, in the order of their messages. */
export async function listSetAside(sql: Sql): Promise<SetAside[]> {
  return sql<SetAside[]>`
    select replace(message_id::text, '-', '') as "messageId", recipient_no as "recipientNo", account_id as "accountId", attempt,
           set_aside as reason, expires_at as "expiresAt"
      from delivery_queue where set_aside is not null order by message_id, recipient_no limit ${MAX_LISTED}`
}

/** Releases the deliveries of a message that are set aside, to be tried for as long as a new message. Returns their number. */
export async function releaseSetAside(sql: Sql, messageId: string): Promise<number> {
  const released = await sql`
    update delivery_queue q
       set set_aside = null, blamed = 0, abandoned = 0, next_at = service_now(),
           expires_at = greatest(q.expires_at, service_now() + ${storedLifetime(sql)})
      from messages m
     where q.message_id = ${messageId}::uuid and m.id = q.message_id and q.set_aside is not null`
  return released.count
}

/** Drops the deliveries of a message that are set aside, each with its event. Returns their number. */
export async function failSetAside(sql: Sql, messageId: string): Promise<number> {
  const failed = await sql`
    with deleted as (
      delete from delivery_queue where message_id = ${messageId}::uuid and set_aside is not null returning *
    ), finished as (
      ${finishDeliveries(sql, { from: sql`deleted`, state: 'dropped', reason: 'set-aside' })}
    ), new_events as (
      ${insertEvents(sql, { from: sql`deleted`, type: 'dropped', detail: { reason: 'set-aside' } })}
    )
    select 1 from deleted`
  return failed.count
}
