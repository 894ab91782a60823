import type { AnySql } from '../platform/database/database.ts'

type Fragment = ReturnType<AnySql>

export interface FinishedDeliveries {
  /** The rows that have left `delivery_queue`, or a relation with the columns of that table that are used. */
  readonly from: Fragment
  /** delivered, bounced, expired or dropped, or an expression over the relation. */
  readonly state: 'delivered' | 'bounced' | 'expired' | 'dropped' | Fragment
  /** Why it was dropped; null of any other state. */
  readonly reason: string | Fragment
  /** Expressions for what differs from the queue's column of the same name. */
  readonly columns?: Partial<Record<Column, Fragment>>
}

type Column = 'recipient' | 'recipientKey' | 'recipientDomain' | 'kind' | 'reference' | 'personal' | 'attempt'

/**
 * The statement that records deliveries as finished, to be part of the one that takes them out of the queue. The event of it is
 * written beside it with `insertEvents`.
 */
export function finishDeliveries(sql: AnySql, { from, state, reason, columns = {} }: FinishedDeliveries): Fragment {
  const text = (value: string | Fragment): Fragment => (typeof value === 'string' ? sql`${value}::text` : value)
  return sql`
    insert into finished_deliveries (message_id, recipient_no, account_id, state, recipient, recipient_key,
           recipient_domain, kind, reference, personal, attempt, reason, finished_at)
    select message_id, recipient_no, account_id, ${text(state)}, ${columns.recipient ?? sql`recipient`},
           ${columns.recipientKey ?? sql`recipient_key`}, ${columns.recipientDomain ?? sql`recipient_domain`},
           ${columns.kind ?? sql`kind`}, ${columns.reference ?? sql`reference`}, ${columns.personal ?? sql`personal`},
           ${columns.attempt ?? sql`attempt`}, ${text(reason)}, service_now()
      from ${from}`
}
