import type { ReturnPathTarget } from '../delivery/return-path.ts'
import type { AnySql, SqlTransaction } from '../platform/database/database.ts'

/** The delivery that a report is about. */
export interface ReportedDelivery extends ReturnPathTarget {
  readonly accountId: number
  readonly recipientKey: string
  /**
   * `waiting`: not finished, and no server can have it as far as is known; `in-flight`: an attempt is in progress, or its result is being recorded;
   * `indeterminate`: it waits for another attempt after one that may have delivered it; otherwise its final state.
   */
  readonly state: 'waiting' | 'in-flight' | 'indeterminate' | 'delivered' | 'bounced' | 'expired' | 'dropped'
}

/** Locks a delivery until the end of the transaction; undefined if it is no longer stored, or its recipient was erased. */
export async function lockReported(
  sql: SqlTransaction,
  target: ReturnPathTarget,
): Promise<ReportedDelivery | undefined> {
  const { messageId, recipientNo } = target
  // The queue first: a delivery that finishes between the two queries is found by the second one.
  const [waiting] = await sql<ReportedDelivery[]>`
    select account_id as "accountId", recipient_key as "recipientKey",
           case when q.worker_id is not null then 'in-flight'
                when q.state = 'deferred' and exists (
             select from attempts a
              where a.message_id = q.message_id and a.recipient_no = q.recipient_no and a.indeterminate)
             then 'indeterminate' else 'waiting' end as state
      from delivery_queue q
     where message_id = ${messageId}::uuid and recipient_no = ${recipientNo}
       for update`
  const [finished] = await sql<ReportedDelivery[]>`
    select account_id as "accountId", recipient_key as "recipientKey", state from finished_deliveries
     where message_id = ${messageId}::uuid and recipient_no = ${recipientNo}
       for update`
  const found = finished ?? waiting
  // The pseudonym of an erased recipient has no @. A deleted account sends no more mail.
  if (!found?.recipientKey.includes('@')) return undefined
  const [account] = await sql`select 1 from accounts where id = ${found.accountId} and state <> 'deleted'`
  return account && { ...found, messageId, recipientNo }
}

/** Whether such an event of the delivery is stored: each kind of report has its effect once. */
export async function hasEvent(
  sql: AnySql,
  delivery: ReportedDelivery,
  type: 'bounced' | 'complained' | 'unsubscribed',
): Promise<boolean> {
  const { messageId, recipientNo, accountId } = delivery
  const rows = await sql`
    select from events
     where account_id = ${accountId} and message_id = ${messageId}::uuid and recipient_no = ${recipientNo} and type = ${type}
     limit 1`
  return rows.length > 0
}
