import type { Sql } from '@postrider/core'

/** Seconds, which are transactions, of one batch of the sequencer: some 2,000 events. */
const BATCH_SECONDS = 500

/**
 * Numbers the events as the sequencer would have: pages of an account and week that end with the batch in which they reach a
 * thousand. What comes now goes on behind them (core/reporting/events/restored.ts).
 */
export async function numberAll(sql: Sql): Promise<void> {
  await sql`
    insert into event_pages (account_id, first_number, count, week, after_transaction, to_transaction, earliest, latest,
                             timed)
    select account_id, 1 + sum(sum(count)) over of_account - sum(count), sum(count), week,
           (min(batch) * ${BATCH_SECONDS}::bigint)::text::xid8, ((max(batch) + 1) * ${BATCH_SECONDS}::bigint)::text::xid8,
           min(earliest), max(latest), sum(count)
      from (select *, (sum(count) over (partition by account_id, week order by batch) - count)::bigint / 1000 as page
              from (select account_id, date_trunc('week', occurred_at, 'UTC') as week,
                           (transaction::text::bigint - 1) / ${BATCH_SECONDS}::bigint as batch, count(*) as count,
                           min(occurred_at) as earliest, max(occurred_at) as latest
                      from events group by 1, 2, 3) batches) pages
     group by account_id, week, page
    window of_account as (partition by account_id order by week, page)`
  const [row] = await sql<{ highest: string }[]>`
    select (max(transaction::text::bigint) / ${BATCH_SECONDS}::bigint + 1) * ${BATCH_SECONDS}::bigint as highest from events`
  const highest = BigInt(row?.highest ?? 0)
  await sql`update event_cursors set transaction = ${String(highest)}::xid8, transaction_offset = ${String(highest)}::bigint`
  await sql.unsafe(`
    alter table events alter column transaction set default ((pg_current_xact_id()::text::bigint + ${highest})::text::xid8)`)
}
