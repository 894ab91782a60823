import { type Actor, noteChange } from '../accounts/audit/index.ts'
import { dropQueued } from '../delivery/queue/drop-queued.ts'
import { onlyRow, type Sql } from '../platform/database/database.ts'
import { messageIdText, parseMessageId } from '../submission/message-id.ts'

export interface Cancellation {
  /** 32 hex digits. */
  readonly id: string
  readonly cancelled: number
  /** Deliveries that a worker has claimed. They are delivered, or end otherwise, as if the message had not been cancelled. */
  readonly inFlight: number
  /** Deliveries that had already ended. */
  readonly final: number
}

/**
 * Drops the deliveries of a message that wait in the queue, also those that are paused or set aside, each with its event; undefined if
 * the message does not exist, or not in the account. The events of an account's own call have the reason `cancelled`, those of the operator's
 * `operator`. As with every drop after the message was accepted, credits are not returned.
 */
export async function cancelMessage(
  sql: Sql,
  { messageId, accountId: owner }: { readonly messageId: string; readonly accountId?: number | undefined },
  by: Actor,
): Promise<Cancellation | undefined> {
  const id = parseMessageId(messageId)
  if (id === undefined) return undefined
  return sql.begin(async (transaction) => {
    const [message] = await transaction<{ accountId: number }[]>`
      select account_id as "accountId" from messages
       where id = ${id}::uuid ${owner === undefined ? transaction`` : transaction`and account_id = ${owner}::int`}`
    if (!message) return undefined
    const { count: cancelled } = await dropQueued(
      transaction,
      transaction`q.message_id = ${id}::uuid`,
      owner === undefined ? 'operator' : 'cancelled',
    )
    const { inFlight, finished } = onlyRow(
      await transaction<{ inFlight: number; finished: number }[]>`
        select (select count(*)::int from delivery_queue where message_id = ${id}::uuid) as "inFlight",
               (select count(*)::int from finished_deliveries where message_id = ${id}::uuid) as finished`,
    )
    const object = `message ${messageIdText(id)}`
    if (cancelled > 0) {
      const { accountId } = message
      await noteChange(transaction, { accountId, by, action: 'message.cancel', object, after: { cancelled } })
    }
    return { id: messageIdText(id), cancelled, inFlight, final: finished - cancelled }
  }) as Promise<Cancellation | undefined>
}
