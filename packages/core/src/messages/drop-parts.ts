import type { AnySql } from '../database.ts'
import type { StoredMessage } from './stored-message.ts'

/** What the accept statement has more where a message of the group is kept but not sent. */
export function dropParts(sql: AnySql, messages: readonly StoredMessage[]) {
  const own = messages.filter(({ dropped }) => dropped !== undefined)
  if (own.length === 0) return { join: sql``, reason: sql`` }
  return {
    join: sql`
        left join unnest(${own.map(({ id }) => id)}::uuid[], ${own.map(({ dropped }) => dropped ?? '')}::text[])
             as unsent(message_id, reason) on unsent.message_id = d.message_id`,
    reason: sql`unsent.reason,`,
  }
}
