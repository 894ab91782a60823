import { finishDeliveries } from '../delivery/outcomes/finish-deliveries.ts'
import { SUPPRESSED, suppressHardBounces } from '../delivery/outcomes/hard-bounces.ts'
import { isSoftBounce, suppressRepeatedSoftBounces } from '../delivery/outcomes/soft-bounces.ts'
import { insertEvents } from '../events/insert-events.ts'
import type { AnySql, SqlTransaction } from '../platform/database/database.ts'
import type { ReportedRecipient } from './read/index.ts'
import { hasEvent, type ReportedDelivery } from './reported-delivery.ts'
import type { ReturnEffect } from './return-result.ts'

export interface LateBounce {
  readonly recipient: ReportedRecipient
  readonly hardBounceDays: number
  readonly returnId: string
}

/**
 * A server reports that it could not deliver a message after all. A delivered message stays delivered, and its event says that the bounce came
 * late; one whose reply was lost has bounced, and no further copy is sent. The recipient is suppressed as after a refusal.
 */
export async function bounceLate(
  sql: SqlTransaction,
  delivery: ReportedDelivery,
  { recipient, hardBounceDays, returnId }: LateBounce,
): Promise<ReturnEffect> {
  const { state, accountId, messageId, recipientNo, recipientKey } = delivery
  if (state === 'waiting' || state === 'in-flight') return { effect: 'none', why: state }
  if (state !== 'delivered' && state !== 'indeterminate') return { effect: 'none', why: 'not-delivered' }
  if (await hasEvent(sql, delivery, 'bounced')) return { effect: 'none', why: 'repeated' }
  const { code, status: enhanced, text: reply, class: of, hard } = recipient
  const detail = {
    ...(code === 0 ? {} : { code }),
    ...(enhanced === '' ? {} : { enhanced }),
    class: of,
    reply,
    late: true as const,
  }
  const own: ReturnType<AnySql> = sql`(
    select ${accountId}::int as account_id, ${messageId}::uuid as message_id, ${recipientNo}::int as recipient_no,
           ${recipientKey}::text as recipient_key, ${of}::text as class) reported`
  if (state === 'indeterminate') {
    await sql`
      with deleted as (
        delete from delivery_queue where message_id = ${messageId}::uuid and recipient_no = ${recipientNo} returning *
      )
      ${finishDeliveries(sql, { from: sql`deleted`, state: 'bounced', reason: sql`null::text` })}`
  }
  await sql`${insertEvents(sql, { from: own, type: 'bounced', detail })}`
  if (hard && SUPPRESSED.includes(of)) await sql`${suppressHardBounces(sql, own, { days: hardBounceDays, returnId })}`
  if (isSoftBounce(of)) await suppressRepeatedSoftBounces(sql, [{ messageId, recipientNo }], returnId)
  return { effect: 'bounced', why: null }
}
