import { type Actor, noteChange } from '../../accounts/audit/index.ts'
import { dropQueued } from '../../delivery/queue/drop-queued.ts'
import { onlyRow, type Sql } from '../../platform/database/database.ts'
import { invalidParameter } from '../../platform/errors.ts'
import { messageIdText, parseMessageId } from '../../submission/message-id.ts'

export interface Cancellation {
  /** 32 hex digits. */
  readonly id: string
  readonly cancelled: number
  /** Deliveries that a worker has claimed. They are delivered, or end otherwise, as if the message had not been cancelled. */
  readonly inFlight: number
  /** Deliveries that had already ended. */
  readonly final: number
}

export interface CancelOrder {
  /** Either form of the id. */
  readonly messageId: string
  readonly accountId?: number | undefined
  /** Numbers of the recipients whose deliveries are dropped; all if absent. */
  readonly recipientNos?: readonly number[] | undefined
}

/**
 * Drops the deliveries of a message that wait in the queue, also those that are paused or set aside, each with its event; undefined if
 * the message does not exist, or not in the account. The events of an account's own call have the reason `cancelled`, those of the operator's
 * `operator`. As with every drop after the message was accepted, credits are not returned.
 *
 * Throws parameterInvalid (`recipients`) if the message does not have one of the recipients.
 */
export async function cancelMessage(
  sql: Sql,
  { messageId, accountId: owner, recipientNos }: CancelOrder,
  by: Actor,
): Promise<Cancellation | undefined> {
  const id = parseMessageId(messageId)
  if (id === undefined) return undefined
  return sql.begin(async (transaction) => {
    const [message] = await transaction<{ accountId: number; recipients: number }[]>`
      select account_id as "accountId", recipients from messages
       where id = ${id}::uuid ${owner === undefined ? transaction`` : transaction`and account_id = ${owner}::int`}`
    if (!message) return undefined
    if (recipientNos?.some((no) => no >= message.recipients))
      throw invalidParameter('recipients', 'must be numbers of recipients of the message')
    const chosen = recipientNos ? transaction`and recipient_no = any(${[...recipientNos]}::int[])` : transaction``
    const { count: cancelled } = await dropQueued(
      transaction,
      transaction`q.message_id = ${id}::uuid ${chosen}`,
      owner === undefined ? 'operator' : 'cancelled',
    )
    const { inFlight, finished } = onlyRow(
      await transaction<{ inFlight: number; finished: number }[]>`
        select (select count(*)::int from delivery_queue where message_id = ${id}::uuid ${chosen}) as "inFlight",
               (select count(*)::int from finished_deliveries where message_id = ${id}::uuid ${chosen}) as finished`,
    )
    const object = `message ${messageIdText(id)}`
    if (cancelled > 0) {
      const { accountId } = message
      const after = { cancelled, ...(recipientNos ? { recipients: [...recipientNos] } : {}) }
      await noteChange(transaction, { accountId, by, action: 'message.cancel', object, after })
    }
    return { id: messageIdText(id), cancelled, inFlight, final: finished - cancelled }
  }) as Promise<Cancellation | undefined>
}
