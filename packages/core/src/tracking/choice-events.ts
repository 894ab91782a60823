import type { TrackingTarget } from '../composition/links/token.ts'
import { insertEvents } from '../events/insert-events.ts'
import type { SqlTransaction } from '../platform/database/database.ts'

/** A recipient's choice by a link of a message. */
export interface ReaderChoice {
  readonly target: TrackingTarget
  /** Null if a mailbox provider reports it. */
  readonly ip: string | null
  readonly userAgent: string | null
}

/**
 * Returns the part of a statement that creates an event for each row (account_id, group_id) of its table `entry`, by group. In
 * privacy mode it names no client.
 */
export function insertChoiceEvents(
  sql: SqlTransaction,
  type: 'unsubscribed' | 'resubscribed',
  { target: { messageId, recipientNo }, ip, userAgent }: ReaderChoice,
): ReturnType<typeof insertEvents> {
  return insertEvents(sql, {
    from: sql`(
      select account_id, ${messageId}::uuid as message_id, ${recipientNo}::int as recipient_no, entry.group_id, a.privacy_mode
        from entry join accounts a on a.id = entry.account_id order by entry.group_id) choice`,
    type,
    detail: sql`
      jsonb_strip_nulls(jsonb_build_object(
        'ip', case when not privacy_mode then ${ip}::text end,
        'userAgent', case when not privacy_mode then ${userAgent}::text end,
        'group', nullif(group_id, 0)))`,
  })
}
