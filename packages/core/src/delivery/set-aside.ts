import { insertEvents } from '../events/insert-events.ts'
import type { AnySql, Sql } from '../platform/database/database.ts'
import { NEVER } from '../platform/never.ts'
import { finishDeliveries } from './finish-deliveries.ts'
import type { DeliveryKey } from './queue.ts'
import { LIFETIME_HOURS } from './schedule.ts'

/** A delivery that cost workers their lives and is not claimed any more until somebody has looked at it. */
export interface SetAside {
  /** 32 hex digits. */
  readonly messageId: string
  readonly recipientNo: number
  readonly accountId: number
  readonly attempt: number
  readonly reason: string
  readonly expiresAt: Date
}

/** How often a worker must be lost while it is at one delivery alone. Once may be chance: workers are killed for other reasons too. */
const BLAMED_OFTEN = 2
const REASON = 'workers were lost while they wrote this message'
/** Deliveries told at once. */
const MOST_SHOWN = 1000

type Named = Pick<DeliveryKey, 'messageId' | 'recipientNo'>

/**
 * Notes that this worker is at `now` alone, of all deliveries that workers were lost with before, and is done with `before`.
 * Durable when it answers: a message that takes the worker's life takes it in the next moment.
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

/** Part of the take-over, which has the row as it was as `old`. Past the final dot the message was written: it is not to blame. */
export function judgedAside(sql: AnySql) {
  const blamed = sql`old.blamed + (old.alone and old.dot_at is null)::int`
  return {
    columns: sql`alone = false, blamed = ${blamed},
                 set_aside = case when ${blamed} >= ${BLAMED_OFTEN} then ${REASON}::text else q.set_aside end`,
    /** When it is due again: not before somebody says so; after a minute, so that what kills workers does not kill all at once. */
    nextAt: sql`when ${blamed} >= ${BLAMED_OFTEN} then ${NEVER}::timestamptz
                when old.alone and old.dot_at is null then service_now() + interval '1 minute'`,
  }
}

export async function listSetAside(sql: Sql): Promise<SetAside[]> {
  return sql<SetAside[]>`
    select replace(message_id::text, '-', '') as "messageId", recipient_no as "recipientNo", account_id as "accountId", attempt,
           set_aside as reason, expires_at as "expiresAt"
      from delivery_queue where set_aside is not null order by message_id, recipient_no limit ${MOST_SHOWN}`
}

/** Lets the deliveries of a message that are set aside be tried again, with three days ahead of them. Answers how many. */
export async function releaseSetAside(sql: Sql, messageId: string): Promise<number> {
  const released = await sql`
    update delivery_queue
       set set_aside = null, blamed = 0, abandoned = 0, next_at = service_now(),
           expires_at = greatest(expires_at, service_now() + make_interval(hours => ${LIFETIME_HOURS}::int))
     where message_id = ${messageId}::uuid and set_aside is not null`
  return released.count
}

/** Ends them as dropped, each with its event. Answers how many. */
export async function failSetAside(sql: Sql, messageId: string): Promise<number> {
  const failed = await sql`
    with gone as (
      delete from delivery_queue where message_id = ${messageId}::uuid and set_aside is not null returning *
    ), finished as (
      ${finishDeliveries(sql, { from: sql`gone`, state: 'dropped', reason: 'set-aside' })}
    ), happened as (
      ${insertEvents(sql, { from: sql`gone`, type: 'dropped', detail: { reason: 'set-aside' } })}
    )
    select 1 from gone`
  return failed.count
}
