import { type Actor, noteChange } from '../../accounts/audit/index.ts'
import { keepPartitions, lockBodies } from '../../delivery/queue/deletion-locks.ts'
import type { Flow } from '../../delivery/queue/flows.ts'
import { addressKey } from '../../mime/address.ts'
import type { AnySql, Sql, SqlTransaction } from '../../platform/database/database.ts'
import { messageIdText, parseMessageId } from '../../submission/message-id.ts'
import type { Forgotten } from '../../suppressions/forgotten.ts'
import {
  evaluateDeliveries,
  type MessageRequeueProblem,
  type RequeuedDelivery,
  type RequeueRefusal,
  selectMessages,
} from './evaluate.ts'
import { moveToQueue } from './move.ts'

/** Why no delivery of a message is requeued. */
export type RequeueProblem = MessageRequeueProblem | 'recipient-unknown' | 'dropping'

export interface RequeueTarget {
  /** Either form of the id. */
  readonly messageId: string
  /** Only deliveries to this address; if undefined, all. */
  readonly recipient?: string | undefined
}

export interface RequeueResult {
  /** 32 hex digits. */
  readonly id: string
  readonly accountId: number
  readonly problem: RequeueProblem | null
  readonly requeued: readonly RequeuedDelivery[]
  readonly refused: readonly (RequeuedDelivery & { readonly refusal: RequeueRefusal })[]
}

interface Dependencies {
  readonly sql: Sql
  readonly forgotten: Forgotten
  readonly announce: (flow: Flow) => void
}

/**
 * Requeues the bounced and expired deliveries of a message: they are due immediately, for as long as a new message, and continue their
 * attempt numbers. Returns undefined if the message does not exist. A delivery is not requeued if it may have been delivered, if its
 * recipient is suppressed or was erased, or if the body of its message is no longer stored.
 *
 * Concurrent calls requeue a delivery once: the account's lock serializes them.
 *
 * Statistics count events, and no event is taken back: a delivery that bounced and was delivered after a requeue counts once as processed,
 * bounced, deferred and sent, and its delivery time includes the time until the requeue. A recount from the events has the same result.
 */
export async function requeueMessage(
  { sql, forgotten, announce }: Dependencies,
  { messageId, recipient }: RequeueTarget,
  by: Actor,
): Promise<RequeueResult | undefined> {
  const id = parseMessageId(messageId)
  if (id === undefined) return undefined
  const result = (await sql.begin(async (transaction) => {
    const accountId = await accountOf(transaction, id)
    if (accountId === undefined) return undefined
    const none = { id: messageIdText(id), accountId, class: undefined, requeued: [], refused: [] }
    if (!(await keepPartitions(transaction))) return { ...none, problem: 'dropping' as const }
    await lockBodies(transaction, accountId)
    const [message] = await selectMessages(transaction, [id])
    if (!message) return undefined
    const key = recipient === undefined ? null : addressKey(recipient)
    const chosen: ReturnType<AnySql> = transaction`
      (select * from deliveries where message_id = ${id}::uuid and (${key}::text is null or recipient_key = ${key}::text))`
    const evaluated = await evaluateDeliveries(transaction, forgotten, [message], chosen)
    if (evaluated.length === 0) return { ...none, problem: 'recipient-unknown' as const }
    const refused = evaluated.flatMap(({ message: _, refusal, ...one }) => (refusal ? [{ ...one, refusal }] : []))
    const wanted = evaluated.filter(({ refusal }) => !refusal)
    if (wanted.length === 0) return { ...none, problem: null, refused }
    if (message.problem) return { ...none, problem: message.problem }
    await moveToQueue(transaction, wanted)
    const object = `message ${messageIdText(id)}`
    const after = { requeued: wanted.length }
    await noteChange(transaction, { accountId, by, action: 'message.requeue', object, after })
    const requeued = wanted.map(({ message: _, refusal: _none, ...one }) => one)
    return { ...none, class: message.columns.class, problem: null, requeued, refused }
  })) as (RequeueResult & { class: Flow['class'] | undefined }) | undefined
  if (!result) return undefined
  const { class: of, ...shown } = result
  if (of !== undefined) announce({ accountId: shown.accountId, class: of })
  return shown
}

async function accountOf(sql: SqlTransaction, id: string): Promise<number | undefined> {
  const [message] = await sql<{ accountId: number }[]>`
    select account_id as "accountId" from messages where id = ${id}::uuid`
  return message?.accountId
}
