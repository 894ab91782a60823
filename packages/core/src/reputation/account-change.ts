import { noteOwners } from '../accounts/notices/note-owners.ts'
import type { EventDetail } from '../events/event-detail.ts'
import { insertEvents, ofAccount } from '../events/insert-events.ts'
import { onlyRow, type SqlTransaction } from '../platform/database/database.ts'

/**
 * Locks an account until the transaction ends, against all others that evaluate it or change its holds or rules. To be called first in each of
 * them: other locks follow.
 */
export async function lockAccount(sql: SqlTransaction, accountId: number): Promise<void> {
  await sql`select from accounts where id = ${accountId} for no key update`
}

/**
 * Writes the event of a change: a level of a rule before and after it. Unless the level is `good`, the owner is to be told: once per
 * rule and day, of the latest change before the mail is sent.
 */
export async function noteStanding(
  sql: SqlTransaction,
  accountId: number,
  detail: Pick<EventDetail, 'rule' | 'domain' | 'before' | 'after' | 'figures' | 'classes'>,
): Promise<void> {
  await insertEvents(sql, {
    from: ofAccount(sql, accountId),
    type: 'account',
    detail,
  })
  const { rule = '', domain, after = 'good', figures = {}, classes = [] } = detail
  // Of a domain that is released while others are held, nothing needs to be done.
  if (after === 'good' || (domain !== undefined && classes.length === 0)) return
  const { day } = onlyRow(await sql<{ day: string }[]>`select (service_now() at time zone 'UTC')::date::text as day`)
  const told = { level: after, classes, figures }
  await noteOwners(sql, [{ accountId, kind: 'reputation', subject: rule, mark: day, detail: told }])
}
