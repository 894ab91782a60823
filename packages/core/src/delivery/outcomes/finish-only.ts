import type { AnySql } from '../../platform/database/database.ts'
import { finishDeliveries } from './finish-deliveries.ts'
import type { Result } from './record.ts'

/**
 * Records of a final outcome only that the delivery is finished, without its attempt and its event: the last resort if the database refuses
 * these, so that a message that was delivered is not sent again. Returns false for a stale result.
 */
export async function finishOnly(
  sql: AnySql,
  { messageId, recipientNo, attempt, workerId, outcome }: Result,
): Promise<boolean> {
  if (outcome.kind === 'deferred') throw new Error('a deferred delivery is not finished')
  const rows = await sql`
    with deleted as (
      delete from delivery_queue
       where message_id = ${messageId}::uuid and recipient_no = ${recipientNo}::int and attempt = ${attempt}::int
         and worker_id = ${workerId}::int
      returning *
    ), finished as (
      ${finishDeliveries(sql, {
        from: sql`deleted`,
        state: outcome.kind,
        reason: sql`${outcome.kind === 'dropped' ? outcome.reason : null}::text`,
        columns: { attempt: sql`attempt - (${outcome.kind}::text = 'dropped')::int` },
      })}
    )
    select from deleted`
  return rows.length > 0
}
