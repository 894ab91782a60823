import type { EventDetail } from '../events/event-detail.ts'
import { insertEvents } from '../events/insert-events.ts'
import type { SqlTransaction } from '../platform/database/database.ts'

/**
 * Locks an account until the transaction ends, against all others that judge it or change its holds or rules. To be called first in each of
 * them: other locks follow.
 */
export async function lockAccount(sql: SqlTransaction, accountId: number): Promise<void> {
  await sql`select from accounts where id = ${accountId} for no key update`
}

/** Writes the event of a change: a level of a rule before and after it. */
export async function noteStanding(
  sql: SqlTransaction,
  accountId: number,
  detail: Pick<EventDetail, 'rule' | 'before' | 'after' | 'figures'>,
): Promise<void> {
  await insertEvents(sql, {
    from: sql`(select ${accountId}::int as account_id, null::uuid as message_id, null::int as recipient_no) account`,
    type: 'account',
    detail,
  })
}
