import { eventTypesWhere } from '../../events/event-types.ts'
import type { AnySql } from '../../platform/database/database.ts'
import type { WantedEvents } from './query.ts'

type Fragment = ReturnType<AnySql>

/** Constants, because with parameters the planner cannot prove that the conditions of the indexes are satisfied. */
const INDEXED = eventTypesWhere(({ log }) => log.indexed)
  .map((type) => `'${type}'`)
  .join(', ')

/** Condition for the events in the log other than deliveries, without those by machines. Must be worded as in the event indexes. */
export const notable = (sql: AnySql) => sql`
  e.type in (${sql.unsafe(INDEXED)})
  and ${byHumans(sql)}`

/** Condition for events that no machine caused. Worded as in the event indexes. */
export const byHumans = (sql: AnySql) => sql`not coalesce(e.detail ? 'machine', false)`

/** Conditions with the classes of HARD_BOUNCES, worded as in the indexes `events_hard_bounces` and `events_soft_bounces`. */
export const bounced: Record<'hard' | 'soft', (sql: AnySql) => Fragment> = {
  hard: (sql) => sql`
    e.type = 'bounced' and e.detail->>'class' in ('bad-mailbox', 'bad-domain', 'moved', 'not-accepting')`,
  soft: (sql) => sql`
    (e.type = 'expired'
     or (e.type = 'bounced' and coalesce(e.detail->>'class', '') not in ('bad-mailbox', 'bad-domain', 'moved', 'not-accepting')))`,
}

/** Condition for a notable event to be one of these. */
export function isWanted(sql: AnySql, { types, bounces }: WantedEvents): Fragment {
  const listed: Fragment = sql`e.type = any(${[...types]}::text[])`
  return bounces ? sql`(${listed} or (${bounced[bounces](sql)}))` : listed
}

export interface NotableQuery {
  readonly accountId: number
  readonly from: string
  readonly to: string
  /** Lower bound of the time of events. */
  readonly since: Date
}

/** Limits a search to its first rows in an order. */
export interface FirstOf {
  readonly sort: 'asc' | 'desc'
  readonly rows: number
  /** Condition for positions of `e` after the previous page. */
  readonly isAfter: Fragment
}

/**
 * Selects the deliveries with one of these events. Each type is read separately, because only then is it an index-only scan in
 * index order that ends with the page. The classes of bounces have their own indexes.
 */
export function deliveriesWith(
  sql: AnySql,
  { types, bounces }: WantedEvents,
  { accountId, from, to, since }: NotableQuery,
  first?: FirstOf,
): Fragment {
  const order = first?.sort === 'desc' ? sql`order by 1 desc, 2 desc` : sql`order by 1, 2`
  const found = (what: Fragment): Fragment => sql`(
    select e.message_id, e.recipient_no from events e
     where e.account_id = ${accountId} and e.message_id >= ${from}::uuid and e.message_id < ${to}::uuid
       and e.occurred_at >= ${since}::timestamptz - interval '1 day' and ${what} ${first?.isAfter ?? sql``}
     group by 1, 2 ${first ? sql`${order} limit ${first.rows}` : sql``})`
  const each = types.map((type) => found(sql`${notable(sql)} and e.type = ${type}::text`))
  if (bounces) each.push(found(sql`${bounced[bounces](sql)} and ${byHumans(sql)}`))
  return sql`
    select message_id, recipient_no
      from (${each.reduce((all, one) => sql`${all} union all ${one}`)}) e group by 1, 2`
}
