import { settleDelivered } from '../delivery/outcomes/settle-delivered.ts'
import { insertEvents } from '../events/insert-events.ts'
import type { AnySql, SqlTransaction } from '../platform/database/database.ts'
import { sameCause } from '../suppressions/store.ts'
import type { FeedbackType } from './read/index.ts'
import { hasEvent, type ReportedDelivery } from './reported-delivery.ts'
import type { ReturnEffect } from './return-result.ts'

/**
 * A recipient has marked a message as spam: no more mail of the account is sent to it, whatever was the reason of an existing entry. Since when it was
 * unsubscribed is remembered. A message whose reply was lost was delivered.
 */
export async function complain(
  sql: SqlTransaction,
  delivery: ReportedDelivery,
  { feedback, returnId }: { readonly feedback: FeedbackType; readonly returnId: string },
): Promise<ReturnEffect> {
  const { accountId, messageId, recipientNo, recipientKey } = delivery
  if (await hasEvent(sql, delivery, 'complained')) return { effect: 'none', why: 'repeated' }
  await settleDelivered(sql, [{ messageId, recipientNo, kind: 'complained' }])
  await sql`
    insert into suppressions as s (account_id, scope, value, reason, rule, class, message_id, recipient_no, return_id)
    values (${accountId}, 'address', ${recipientKey}, 'abuse', 'complaint', ${feedback}, ${messageId}::uuid, ${recipientNo}, ${returnId}::uuid)
    on conflict (account_id, value, group_id) do update set reason = excluded.reason, since = service_now(), held_until = null, ${sameCause(sql)},
       unsubscribed_since = case when s.reason = 'unsubscribe' then s.since else s.unsubscribed_since end
     where s.reason <> 'abuse' or s.held_until is not null`
  const from: ReturnType<AnySql> = sql`(
    select ${accountId}::int as account_id, ${messageId}::uuid as message_id, ${recipientNo}::int as recipient_no) reported`
  await sql`${insertEvents(sql, { from, type: 'complained', detail: { feedback } })}`
  return { effect: 'complained', why: null }
}
