import type { Sql } from '@postrider/core'

interface Index {
  readonly name: string
  readonly table: string
  readonly definition: string
  /** Of a primary key. */
  readonly key: boolean
}

/**
 * Fills tables that have no indexes meanwhile: to make one of many rows at once takes a fifth of what it takes to keep it up to
 * date. They are made again as they were, two at a time.
 */
export async function withoutIndexes(
  sessions: readonly Sql[],
  tables: readonly string[],
  act: () => Promise<void>,
): Promise<void> {
  const sql = sessions[0] as Sql
  const indexes = await sql<Index[]>`
    select c.relname as name, i.indrelid::regclass::text as table, i.indisprimary as key,
           case when i.indisprimary then (select pg_get_constraintdef(oid) from pg_constraint where conindid = i.indexrelid)
                -- On a partitioned table it says ONLY, and would leave out the partitions.
                else replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') end as definition
      from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = any(${[...tables]}::regclass[])
     order by pg_relation_size(i.indrelid), i.indexrelid`
  for (const { name, table, key } of indexes)
    await sql.unsafe(key ? `alter table ${table} drop constraint ${name}` : `drop index ${name}`)
  await act()
  const left = tables.map((table) => indexes.filter((index) => index.table === table))
  await Promise.all(
    sessions.map(async (session) => {
      for (let own = left.shift(); own; own = left.shift())
        for (const { name, table, key, definition } of own)
          await session.unsafe(key ? `alter table ${table} add constraint ${name} ${definition}` : definition)
    }),
  )
}
