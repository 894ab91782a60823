import { insertEvents } from '../../events/insert-events.ts'
import type { SqlTransaction } from '../../platform/database/database.ts'
import { finishDeliveries } from './finish-deliveries.ts'

/** A sign that a recipient has a copy. */
export interface Sign {
  readonly messageId: string
  readonly recipientNo: number
  readonly kind: 'opened' | 'clicked' | 'unsubscribed' | 'complained'
  /** If undefined, now. */
  readonly at?: Date
}

/**
 * Seconds after an indeterminate attempt in which a sign proves nothing: a server may follow links while it receives a message that it then
 * refuses.
 */
const TOO_SOON = 10

const WHAT = {
  opened: 'has opened the message',
  clicked: 'has followed a link',
  unsubscribed: 'has unsubscribed',
  complained: 'has marked it as spam',
} as const

/**
 * Ends deliveries as delivered whose recipients have a copy: those that wait for another attempt after an indeterminate one, which would
 * send a second copy. Others are left alone, also those in flight. Their event `sent` says what proved it, as there is no reply; they were
 * finished when that attempt ended.
 */
export async function settleDelivered(sql: SqlTransaction, signs: readonly Sign[]): Promise<void> {
  if (signs.length === 0) return
  await sql`
    with sign as materialized (
      select distinct on (message_id, recipient_no) *
        from unnest(${signs.map(({ messageId }) => messageId)}::uuid[], ${signs.map(({ recipientNo }) => recipientNo)}::int[],
                    ${signs.map(({ kind }) => WHAT[kind])}::text[], ${signs.map(({ at }) => at?.toISOString() ?? null)}::timestamptz[])
             as s(message_id, recipient_no, what, at)
       order by message_id, recipient_no, at desc
    ), known as materialized (
      select distinct on (s.message_id, s.recipient_no) s.message_id, s.recipient_no, s.what, a.attempt as copied_by, a.host,
             a.started_at + make_interval(secs => a.milliseconds / 1000.0) as copied_at
        from sign s
        join attempts a on a.message_id = s.message_id and a.recipient_no = s.recipient_no and a.indeterminate
                       and coalesce(s.at, service_now()) > a.started_at + make_interval(secs => a.milliseconds / 1000.0 + ${TOO_SOON})
       order by s.message_id, s.recipient_no, a.attempt desc
    ), deleted as (
      delete from delivery_queue q using known k
       where q.message_id = k.message_id and q.recipient_no = k.recipient_no and q.state = 'deferred' and q.worker_id is null
      returning q.*, k.what, k.copied_by, k.copied_at, k.host
    ), finished as (
      ${finishDeliveries(sql, { from: sql`deleted`, state: 'delivered', reason: sql`null::text`, at: sql`copied_at` })}
    )
    ${insertEvents(sql, {
      from: sql`deleted`,
      type: 'sent',
      detail: sql`
        jsonb_strip_nulls(jsonb_build_object('attempt', copied_by, 'host', host, 'indeterminate', true,
                                             'reply', 'The reply was lost, but the recipient ' || what))`,
    })}`
}
