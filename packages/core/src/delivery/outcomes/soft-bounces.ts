import type { AnySql } from '../../platform/database/database.ts'
import type { BounceClass } from './bounce-rules.ts'

/**
 * When soft bounces suppress an address, and for how long: bounces on `days` different days `within` a number of days, without a
 * successful delivery after the first of them. `suppressedFor` is in days. Such a mailbox is usually abandoned; after the time it is tried again.
 */
const SOFT_BOUNCE_RULE = {
  classes: ['mailbox-full', 'mailbox-inactive', 'filtered'],
  days: 3,
  within: 30,
  suppressedFor: 90,
} as const

/**
 * Deliveries of an address that are read at most, which takes 20 ms. One with more within the period is not a person's: it is not
 * suppressed.
 */
const MAX_DELIVERIES = 200
/**
 * Addresses that are looked at together: the outcomes of other accounts wait in the same batch, in the worst case 0.4 s. The others are
 * looked at when they next bounce.
 */
const MAX_ADDRESSES = 20
/** Days before the period in which messages of its deliveries were accepted. */
const MAX_LIFETIME_DAYS = 7

export interface SoftBounced {
  readonly messageId: string
  readonly recipientNo: number
}

export function isSoftBounce(of: BounceClass): boolean {
  return SOFT_BOUNCE_RULE.classes.some((one) => one === of)
}

/**
 * Suppresses the recipients of deliveries with a soft bounce, if {@link SOFT_BOUNCE_RULE} applies to them. Reads only their own deliveries. An
 * entry that exists is kept. `returnId`: the report of the bounce, if there is one.
 */
export async function suppressRepeatedSoftBounces(
  sql: AnySql,
  bounced: readonly SoftBounced[],
  returnId: string | null = null,
): Promise<void> {
  const { classes, days, within, suppressedFor } = SOFT_BOUNCE_RULE
  const looked = bounced.slice(0, MAX_ADDRESSES)
  await sql`
    with address as materialized (
      select distinct f.account_id, f.recipient_key
        from unnest(${looked.map(({ messageId }) => messageId)}::uuid[], ${looked.map(({ recipientNo }) => recipientNo)}::int[])
             as b(message_id, recipient_no)
        join finished_deliveries f using (message_id, recipient_no)
       -- The pseudonym of an erased recipient has no @.
       where position('@' in f.recipient_key) > 0
    ), bounce as (
      select a.account_id, a.recipient_key, e.occurred_at, e.class, latest.message_id, latest.recipient_no,
             max(latest.finished_at) filter (where latest.state = 'delivered' and e.occurred_at is null)
               over (partition by a.account_id, a.recipient_key) as delivered_at,
             count(*) over (partition by a.account_id, a.recipient_key) as deliveries
        from address a
        cross join lateral (
          select f.message_id, f.recipient_no, f.state, f.finished_at from finished_deliveries f
           where hashtextextended(f.recipient_key, f.account_id) = hashtextextended(a.recipient_key, a.account_id)
             and f.recipient_key = a.recipient_key and f.account_id = a.account_id
             and f.finished_at > service_now() - make_interval(days => ${within}::int)
             and f.message_id >= uuidv7_floor(service_now() - make_interval(days => ${within + MAX_LIFETIME_DAYS}::int))
           limit ${MAX_DELIVERIES}::int) latest
        left join lateral (
          select min(e.occurred_at) as occurred_at, min(e.detail->>'class') as class from events e
           where e.message_id = latest.message_id and e.recipient_no = latest.recipient_no and e.type = 'bounced'
             and e.detail->>'class' = any(${[...classes]}::text[])) e on true
    )
    insert into suppressions (account_id, scope, value, reason, held_until, rule, class, message_id, recipient_no, return_id)
    select account_id, 'address', recipient_key, 'hardbounce', service_now() + make_interval(days => ${suppressedFor}::int),
           'soft-bounces', (array_agg(class order by occurred_at desc))[1], (array_agg(message_id order by occurred_at desc))[1],
           (array_agg(recipient_no order by occurred_at desc))[1], ${returnId}::uuid
      from bounce
     where occurred_at is not null and (delivered_at is null or occurred_at > delivered_at) and deliveries < ${MAX_DELIVERIES}::int
     group by account_id, recipient_key
    having count(distinct date_trunc('day', occurred_at, 'UTC')) >= ${days}::int
     -- Every writer locks rows in the same order, so two never deadlock.
     order by account_id, recipient_key
    on conflict do nothing`
}
