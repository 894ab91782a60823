import type { EventDetail } from '../events/event-detail.ts'
import { insertEvents } from '../events/insert-events.ts'
import type { SqlTransaction } from '../platform/database/database.ts'

/**
 * Locks an account until the transaction ends, against all others that evaluate it or change its holds or rules. To be called first in each of
 * them: other locks follow.
 */
export async function lockAccount(sql: SqlTransaction, accountId: number): Promise<void> {
  await sql`select from accounts where id = ${accountId} for no key update`
}

/**
 * Writes the event of a change: a level of a rule before and after it. Unless the level is `good`, the owner is to be told (notices.ts): once per
 * rule and day, of the latest change before the mail is sent.
 */
export async function noteStanding(
  sql: SqlTransaction,
  accountId: number,
  detail: Pick<EventDetail, 'rule' | 'domain' | 'before' | 'after' | 'figures' | 'classes'>,
): Promise<void> {
  await insertEvents(sql, {
    from: sql`(select ${accountId}::int as account_id, null::uuid as message_id, null::int as recipient_no) account`,
    type: 'account',
    detail,
  })
  const { rule = '', domain, after = 'good', figures = {}, classes = [] } = detail
  // Of a domain that is released while others are held, nothing needs to be done.
  if (after === 'good' || (domain !== undefined && classes.length === 0)) return
  await sql`
    insert into account_notices as n (account_id, rule, day, level, classes, figures)
    values (${accountId}, ${rule}, (service_now() at time zone 'UTC')::date, ${after}, ${[...classes]}::text[], ${JSON.stringify(figures)}::text::jsonb)
    on conflict (account_id, rule, day) do update
       set level = excluded.level, classes = excluded.classes, figures = excluded.figures, created_at = excluded.created_at
     where n.state = 'waiting' and n.tries = 0`
}
