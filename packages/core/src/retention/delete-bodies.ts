import { bodyKey } from '../composition/body-key.ts'
import { type AnySql, onlyRow } from '../platform/database/database.ts'

/**
 * Deletes the bodies of messages of an account, and notes which objects are to be removed. Returns the number of parts. `sql` is a transaction
 * in which lockBodies was called. Without `evenQueued`, messages with queued deliveries keep theirs.
 */
export async function deleteBodies(
  sql: AnySql,
  accountId: number,
  ids: readonly string[],
  { evenQueued }: { readonly evenQueued: boolean },
): Promise<number> {
  const keys = ids.map((id) => bodyKey({ id, accountId }))
  const { count } = onlyRow(
    await sql<{ count: number }[]>`
      with deleted as (
        delete from bodies b using unnest(${[...ids]}::uuid[], ${keys}::text[]) as w(id, key)
         where b.message_id = w.id
               ${evenQueued ? sql`` : sql`and not exists (select from delivery_queue q where q.message_id = w.id)`}
        returning w.key, b.object_length
      ), noted as (
        insert into object_removals (key) select distinct key from deleted where object_length is not null
        on conflict do nothing
      )
      select count(*)::int as count from deleted`,
  )
  return count
}
