import type { AnySql, Sql } from '../../platform/database/database.ts'

/**
 * Sees to it that events of a database that was restored from a dump go on behind those it came with: transactions of the new
 * server begin from 1 again, and would be taken for dealt with long ago. To be called before anything is written; does nothing
 * where the numbers never went back (a file-level backup and pg_upgrade keep them). Answers whether something was to be done.
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
    return true
  }) as Promise<boolean>
}

/** The highest transaction number kept, as decimal text, if the next one of this server would not come behind it. */
async function highestAhead(sql: AnySql): Promise<string | undefined> {
  const [row] = await sql<{ highest: string }[]>`
    with kept as (
      select greatest((select transaction::text::bigint from event_cursors where name = 'numbers'),
                      (select events.transaction::text::bigint from events order by events.transaction desc limit 1)) as highest
    )
    select highest::text from kept, event_cursors c
     where c.name = 'numbers'
       and kept.highest >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint + c.transaction_offset`
  return row?.highest
}
