import type { AnySql } from '../../platform/database/database.ts'
import type { Reads } from '../../platform/database/reads.ts'

/** How often a delivery was opened, and its links clicked, by humans. */
export interface Acts {
  readonly opens: number
  readonly clicks: number
}

/** Returns the counts in the order of the deliveries. Each is two rows, by their primary key. */
export async function countActs(
  reads: Reads,
  deliveries: readonly { readonly messageId: string; readonly recipientNo: number }[],
): Promise<readonly Acts[]> {
  if (deliveries.length === 0) return []
  return reads.snapshot((sql) => selectActs(sql, deliveries))
}

async function selectActs(
  sql: AnySql,
  deliveries: readonly { readonly messageId: string; readonly recipientNo: number }[],
): Promise<readonly Acts[]> {
  return sql<Acts[]>`
    select coalesce(e.opens, 0)::int as opens, coalesce(e.clicks, 0)::int as clicks
      from unnest(${deliveries.map(({ messageId }) => messageId)}::uuid[], ${deliveries.map(({ recipientNo }) => recipientNo)}::int[])
           with ordinality as w(id, no, at)
      left join lateral (
       select sum(total) filter (where kind = 'opened') as opens, sum(total) filter (where kind = 'clicked') as clicks from engagements
        where message_id = w.id and recipient_no = w.no and not machine) e on true
     order by w.at`
}
