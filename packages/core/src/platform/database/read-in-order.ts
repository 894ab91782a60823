import type { AnySql } from './database.ts'

/**
 * Makes the planner read rows in index order until the page is full. By itself the planner, whose plans must suit any account and
 * page, would read and sort a large account's whole date range for a page of ten. `false` restores the default.
 */
export async function readInOrder(sql: AnySql, inOrder: boolean): Promise<void> {
  await sql`
    select set_config(name, ${inOrder ? 'off' : 'on'}, true)
      from unnest(array['enable_sort', 'enable_hashagg', 'enable_hashjoin', 'enable_mergejoin', 'enable_bitmapscan',
                        'enable_seqscan', 'enable_material']) name`
}
