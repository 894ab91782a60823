import type { AnySql, Sql } from '../../platform/database/database.ts'
import { beginEpoch } from './epochs.ts'

/**
 * Makes event numbering continue in a database that was restored from a dump. Transaction ids of the new server begin at 1 again,
 * so new events would seem to be numbered already. To be called before anything is written. Does nothing if transaction ids did not
 * go back (file-level backups and pg_upgrade keep them). Also begins a new epoch. Returns whether a change was necessary.
 */
export async function continueAfterRestore(sql: Sql): Promise<boolean> {
  if ((await highestAhead(sql)) === undefined) return false
  return sql.begin(async (transaction) => {
    await transaction`lock table events in access exclusive mode`
    const highest = await highestAhead(transaction)
    if (highest === undefined) return false
    await transaction`update event_cursors set transaction_offset = ${highest}::bigint`
    await transaction.unsafe(
      `alter table events alter column transaction
         set default ((pg_current_xact_id()::text::bigint + ${BigInt(highest)})::text::xid8)`,
    )
    // Later events are lost, and their numbers are given to other events.
    await beginEpoch(transaction, null)
    return true
  }) as Promise<boolean>
}

/** Returns the highest stored transaction id, as decimal text, unless this server's next one is higher. */
async function highestAhead(sql: AnySql): Promise<string | undefined> {
  const [row] = await sql<{ highest: string }[]>`
    with stored as (
      select greatest((select transaction::text::bigint from event_cursors where name = 'numbers'),
                      (select events.transaction::text::bigint from events order by events.transaction desc limit 1)) as highest
    )
    select highest::text from stored, event_cursors c
     where c.name = 'numbers'
       and stored.highest >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint + c.transaction_offset`
  return row?.highest
}
