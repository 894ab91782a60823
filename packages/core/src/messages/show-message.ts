import type { AnySql, Sql } from '../platform/database/database.ts'
import { parseMessageId } from '../submission/message-id.ts'
import { transactionNumber } from '../submission/transaction-numbers.ts'
import { selectCausedBy } from '../suppressions/store.ts'
import type { Suppression } from '../suppressions/suppression.ts'

export interface MessageDetails {
  readonly id: string
  readonly accountId: number
  readonly door: string
  readonly acceptedAt: Date
  readonly scheduledAt: Date | null
  readonly from: string
  readonly subject: string
  readonly tags: readonly string[]
  readonly settings: unknown
  readonly size: number
  readonly deliveries: readonly DeliveryDetails[]
  readonly events: readonly EventDetails[]
  /** Those that its deliveries caused and that still exist. */
  readonly suppressions: readonly Suppression[]
}

export interface DeliveryDetails {
  readonly recipientNo: number
  /** v2 TRANSID. */
  readonly transactionNumber: string
  readonly state: string
  readonly recipient: string
  readonly kind: string
  readonly reference: string | null
  readonly attempt: number
  readonly nextAt: Date | null
  readonly expiresAt: Date | null
  readonly reason: string | null
  readonly finishedAt: Date | null
  readonly attempts: readonly AttemptDetails[]
}

export interface AttemptDetails {
  readonly recipientNo: number
  readonly attempt: number
  readonly outcome: string
  readonly indeterminate: boolean
  readonly startedAt: Date
  readonly milliseconds: number
  readonly stage: string | null
  readonly host: string | null
  readonly address: string | null
  /** The provider or site where it was offered, with the source address if one is configured; null if it was not offered. */
  readonly place: string | null
  readonly tls: string | null
  /** The TLS level that was demanded: required, verified or sts; null if TLS was to be used where it is offered. */
  readonly tlsPolicy: string | null
  /** Whether the certificate was valid for the host; null without TLS. */
  readonly tlsVerified: boolean | null
  readonly code: number | null
  readonly enhanced: string | null
  readonly reply: string | null
  readonly conversation: unknown
}

export interface EventDetails {
  readonly id: string
  readonly occurredAt: Date
  readonly type: string
  readonly recipientNo: number | null
  readonly detail: unknown
}

type MessageRow = Omit<MessageDetails, 'deliveries' | 'events' | 'suppressions'> & { transactionBase: string }

/**
 * Returns a message with its deliveries, attempts and events from one snapshot, so that a state is never shown without the attempt
 * that led to it. Each statement reads only the partitions from the message's week on.
 */
export async function showMessage(sql: Sql, messageId: string): Promise<MessageDetails | undefined> {
  const id = parseMessageId(messageId)
  if (id === undefined) return undefined
  return sql.begin('isolation level repeatable read read only', (snapshot) => readDetails(snapshot, id))
}

async function readDetails(sql: AnySql, messageId: string): Promise<MessageDetails | undefined> {
  const [message] = await sql<MessageRow[]>`
    select replace(id::text, '-', '') as id, account_id as "accountId", door, accepted_at as "acceptedAt",
           scheduled_at as "scheduledAt", from_address as "from", subject, tags, settings, size,
           transaction_base as "transactionBase"
      from messages where id = ${messageId}::uuid`
  if (!message) return undefined
  const attempts = await sql<AttemptDetails[]>`
    select recipient_no as "recipientNo", attempt, outcome, indeterminate, started_at as "startedAt", milliseconds, stage,
           host, address, place, tls, tls_policy as "tlsPolicy", tls_verified as "tlsVerified", code, enhanced, reply, conversation
      from attempts where message_id = ${messageId}::uuid order by recipient_no, attempt`
  const deliveries = await sql<Omit<DeliveryDetails, 'transactionNumber' | 'attempts'>[]>`
    select recipient_no as "recipientNo", state, recipient, kind, reference, attempt, next_at as "nextAt",
           expires_at as "expiresAt", reason, finished_at as "finishedAt"
      from deliveries where message_id = ${messageId}::uuid order by recipient_no`
  const events = await sql<EventDetails[]>`
    select id, occurred_at as "occurredAt", type, recipient_no as "recipientNo", detail
      from events where message_id = ${messageId}::uuid and occurred_at >= ${message.acceptedAt} - interval '1 day'
     order by occurred_at, id`
  const suppressions = await selectCausedBy(sql, message.accountId, messageId)
  const { transactionBase, ...rest } = message
  const byRecipient = Map.groupBy(attempts, ({ recipientNo }) => recipientNo)
  return {
    ...rest,
    deliveries: deliveries.map((delivery) => ({
      ...delivery,
      transactionNumber: transactionNumber(transactionBase, delivery.recipientNo),
      attempts: byRecipient.get(delivery.recipientNo) ?? [],
    })),
    events,
    suppressions,
  }
}
