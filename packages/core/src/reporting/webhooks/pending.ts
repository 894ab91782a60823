import { type AnySql, onlyRow } from '../../platform/database/database.ts'
import type { Webhook } from './webhook.ts'

/** Events that a webhook is still to get. */
export interface PendingEvents {
  readonly events: number
  /** Whether there are more: not all pages of numbers were looked at. */
  readonly isAtLeast: boolean
}

/** Pages of sequence numbers that are counted, each of about 1000 events. */
const MAX_PAGES = 20

/** Counts the events of a webhook that wait in batches, and those after its position that it is to get. */
export async function countPending(
  sql: AnySql,
  { id, accountId, position, events }: Pick<Webhook, 'id' | 'accountId' | 'position' | 'events'>,
): Promise<PendingEvents> {
  return onlyRow(
    await sql<PendingEvents[]>`
      with page as materialized (
        select * from event_pages where account_id = ${accountId} and first_number + count - 1 > ${position}
         order by first_number limit ${MAX_PAGES + 1}
      ), numbered as (
        select e.type, p.first_number - 1 + row_number() over (partition by p.first_number order by e.transaction, e.id) as number
          from (select * from page order by first_number limit ${MAX_PAGES}) p
          join events e on e.account_id = p.account_id and e.transaction > p.after_transaction and e.transaction <= p.to_transaction
                       and e.occurred_at >= p.week and e.occurred_at < p.week + interval '7 days'
      )
      select ((select count(*) from numbered where number > ${position} and type = any(${[...events]}::text[]))
             + (select coalesce(sum(coalesce(events, to_number - after_number)), 0) from webhook_batches
                 where webhook_id = ${id} and state = 'waiting'))::float8 as events,
             (select count(*) from page) > ${MAX_PAGES} as "isAtLeast"`,
  )
}
