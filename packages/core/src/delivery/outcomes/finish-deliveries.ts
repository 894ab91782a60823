import type { AnySql } from '../../platform/database/database.ts'

type Fragment = ReturnType<AnySql>

export interface FinishedDeliveries {
  /** The rows removed from `delivery_queue`, or a relation with the columns of that table that are used. */
  readonly from: Fragment
  /** The final state, or an expression over the relation. */
  readonly state: 'delivered' | 'bounced' | 'expired' | 'dropped' | Fragment
  /** The reason of a drop; null for other states. */
  readonly reason: string | Fragment
  /** When they were finished; default: the time of the statement. */
  readonly at?: Fragment
  /** Expressions for columns whose value is not that of the queue's column with the same name. */
  readonly columns?: Partial<Record<Column, Fragment>>
}

type Column = 'recipient' | 'recipientKey' | 'recipientDomain' | 'kind' | 'reference' | 'personal' | 'attempt'

/**
 * Returns the statement that records deliveries as finished. It must be part of the statement that removes them from the queue,
 * together with `insertEvents` for their events.
 */
export function finishDeliveries(
  sql: AnySql,
  { from, state, reason, at = sql`service_now()`, columns = {} }: FinishedDeliveries,
): Fragment {
  const text = (value: string | Fragment): Fragment => (typeof value === 'string' ? sql`${value}::text` : value)
  return sql`
    insert into finished_deliveries (message_id, recipient_no, account_id, state, recipient, recipient_key,
           recipient_domain, kind, reference, personal, attempt, reason, finished_at)
    select message_id, recipient_no, account_id, ${text(state)}, ${columns.recipient ?? sql`recipient`},
           ${columns.recipientKey ?? sql`recipient_key`}, ${columns.recipientDomain ?? sql`recipient_domain`},
           ${columns.kind ?? sql`kind`}, ${columns.reference ?? sql`reference`}, ${columns.personal ?? sql`personal`},
           ${columns.attempt ?? sql`attempt`}, ${text(reason)}, ${at}
      from ${from}`
}
