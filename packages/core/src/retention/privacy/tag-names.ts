import type { SqlTransaction } from '../../platform/database/database.ts'
import type { Subject } from './request.ts'

/**
 * Removes tags that contain an address from the account's statistics. To be called after the messages to these recipients no
 * longer have them. Waits for counting in progress.
 */
export async function foldTagNames(
  sql: SqlTransaction,
  accountId: number,
  subjects: readonly Subject[],
): Promise<void> {
  await sql`select from event_cursors where name = 'numbers' for update`
  await sql`
    select fold_tags(${accountId}::int, names)
      from (select array_agg(name) as names
              from (select lower(name) as low, name from tags where account_id = ${accountId} and position('@' in name) > 0) own
             where exists (select from unnest(${subjects.map(({ key }) => key)}::text[]) key where position(key in low) > 0)) found
     where names is not null`
}
