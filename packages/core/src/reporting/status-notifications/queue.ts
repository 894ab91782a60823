import type { EventDetail } from '../../events/event-detail.ts'
import type { Sql, SqlTransaction } from '../../platform/database/database.ts'
import type { StoredNotifications } from '../../submission/status-notifications.ts'
import type { Batch } from '../events/index.ts'

/** RFC 3464 2.3.3. */
export type NotifiedAction = 'failed' | 'delayed' | 'relayed'

/** Hours after which deferred mail is delayed, as Sendmail has it. */
const DELAYED_HOURS = 4
/** Drops without a notification: the recipient is erased, or the sender gets another notice (relay/smtpapi). */
const SILENT = ['forgotten', 'instructions']
/** Minutes until a notification that could not be sent is tried again. A process that has not finished by then is presumed dead. */
const RETRY_MINUTES = 5
/** Of one account, put off in one statement. */
const PUT_OFF = 1000

/**
 * Queues the notifications of a batch of events, in the transaction that numbers them, so that each is queued once despite crashes. Of deferrals
 * only the first counts that comes late enough.
 */
export async function queueNotifications(sql: SqlTransaction, { after, to }: Batch): Promise<void> {
  await sql`
    insert into status_notifications (account_id, message_id, recipient_no, action, occurred_at)
    select e.account_id, e.message_id, e.recipient_no,
           case e.type when 'sent' then 'relayed' when 'deferred' then 'delayed' else 'failed' end, e.occurred_at
      from events e
      -- Lateral with a limit, as in statistics/rollup.ts.
     cross join lateral (
       select settings->'notifications'->'notify' as notify, greatest(accepted_at, scheduled_at) as due_at
         from messages where id = e.message_id and settings ? 'notifications' limit 1) m
      left join lateral (
        select personal->'notify' as notify from finished_deliveries where message_id = e.message_id and recipient_no = e.recipient_no
        union all
        select personal->'notify' from delivery_queue where message_id = e.message_id and recipient_no = e.recipient_no
        limit 1) d on true
     where e.transaction > ${after}::xid8 and e.transaction <= ${to}::xid8
       and e.type in ('sent', 'deferred', 'bounced', 'expired', 'dropped', 'invalid')
       and coalesce(d.notify, m.notify) ? case e.type when 'sent' then 'success' when 'deferred' then 'delay' else 'failure' end
       and (e.type <> 'dropped' or (e.detail->>'reason') <> all(${SILENT}::text[]))
       -- Not if an operator requeued it.
       and (e.type <> 'deferred' or (e.detail ? 'attempt' and e.occurred_at >= m.due_at + make_interval(hours => ${DELAYED_HOURS}) and not exists (
             select from events before
              where before.message_id = e.message_id and before.recipient_no = e.recipient_no and before.type = 'deferred'
                and before.occurred_at >= m.due_at + make_interval(hours => ${DELAYED_HOURS}) and before.occurred_at < e.occurred_at)))`
}

export interface DueNotification {
  readonly id: string
  readonly accountId: number
  /** UUID. */
  readonly messageId: string
  readonly recipientNo: number
  readonly action: NotifiedAction
  readonly occurredAt: Date
  /** The same, in microseconds: the key of its event. */
  readonly eventAt: string
  readonly hours: number
}

/** Takes the notification that is due first, and puts it off, so that no other worker sends it now. */
export async function claimNotification(sql: Sql): Promise<DueNotification | undefined> {
  const [row] = await sql<DueNotification[]>`
    update status_notifications set due_at = service_now() + make_interval(mins => ${RETRY_MINUTES})
     where id in (select id from status_notifications where due_at <= service_now() order by due_at limit 1 for update skip locked)
    returning id::text as id, account_id as "accountId", message_id::text as "messageId", recipient_no as "recipientNo",
              action, occurred_at as "occurredAt", occurred_at::text as "eventAt", (extract(epoch from service_now() - occurred_at) / 3600)::float8 as hours`
  return row
}

/** Puts off the notifications of an account that has too many, so that those of others do not wait for it. */
export async function putOffAccount(sql: Sql, accountId: number, seconds: number): Promise<void> {
  await sql`
    update status_notifications set due_at = service_now() + make_interval(secs => ${seconds})
     where id in (select id from status_notifications where account_id = ${accountId} and due_at <= service_now() + make_interval(mins => ${RETRY_MINUTES})
                   order by due_at limit ${PUT_OFF} for update skip locked)`
}

export async function removeNotification(sql: Sql, id: string): Promise<void> {
  await sql`delete from status_notifications where id = ${id}::bigint`
}

/** A delivery as its notification shows it. */
export interface NotifiedDelivery {
  readonly wanted: StoredNotifications
  readonly acceptedAt: Date
  readonly subject: string
  readonly recipient: string
  readonly originalRecipient: string | null
  readonly expiresAt: Date | null
  readonly type: 'sent' | 'deferred' | 'bounced' | 'expired' | 'dropped' | 'invalid'
  readonly detail: EventDetail | null
  /** expired: the last reply of a host before; null if there was none. */
  readonly lastReply: EventDetail | null
}

/** Returns it; undefined if it is no longer stored, or erased. */
export async function selectNotified(
  sql: Sql,
  { messageId, recipientNo, eventAt, action }: DueNotification,
): Promise<NotifiedDelivery | undefined> {
  const [row] = await sql<NotifiedDelivery[]>`
    select m.settings->'notifications' as wanted, m.accepted_at as "acceptedAt", m.subject, d.recipient,
           d.original as "originalRecipient", d.expires_at as "expiresAt", e.type, e.detail,
           last.detail as "lastReply"
      from messages m
     cross join lateral (
       select recipient, personal->>'originalRecipient' as original, null::timestamptz as expires_at, reason from finished_deliveries
        where message_id = m.id and recipient_no = ${recipientNo}
       union all
       select recipient, personal->>'originalRecipient', expires_at, null from delivery_queue where message_id = m.id and recipient_no = ${recipientNo}
       limit 1) d
     cross join lateral (
       select type, detail from events
        where message_id = m.id and recipient_no = ${recipientNo} and occurred_at = ${eventAt}::text::timestamptz
          and type = any(${EVENTS[action]}::text[])
        order by id limit 1) e
      left join lateral (
        select detail from events
         where message_id = m.id and recipient_no = ${recipientNo} and type = 'deferred' and detail ? 'code' and not detail ? 'own'
           and occurred_at >= m.accepted_at and occurred_at < ${eventAt}::text::timestamptz
         order by occurred_at desc limit 1) last on e.type = 'expired'
     where m.id = ${messageId}::uuid and m.settings ? 'notifications' and d.recipient not like 'forgotten-%'`
  return row
}

const EVENTS: Readonly<Record<NotifiedAction, string[]>> = {
  failed: ['bounced', 'expired', 'dropped', 'invalid'],
  delayed: ['deferred'],
  relayed: ['sent'],
}
