import { eventTypesWhere } from '../../events/event-types.ts'
import type { AnySql } from '../../platform/database/database.ts'
import type { WantedEvents } from './question.ts'

type Fragment = ReturnType<AnySql>

/** As constants: with parameters the planner does not know that the indexes' condition holds. */
const INDEXED = eventTypesWhere(({ log }) => log.indexed)
  .map((type) => `'${type}'`)
  .join(', ')

/** Events the log tells of, other than delivery; what machines did is none. To be said as the indexes of events say it. */
export const notable = (sql: AnySql) => sql`
  e.type in (${sql.unsafe(INDEXED)})
  and ${byPeople(sql)}`

const byPeople = (sql: AnySql) => sql`not coalesce(e.detail ? 'machine', false)`

/** The classes of HARD_BOUNCES (reporting/events/words.ts), in the words of `events_hard_bounces` and `events_soft_bounces`. */
const bounced: Record<'hard' | 'soft', (sql: AnySql) => Fragment> = {
  hard: (sql) => sql`
    e.type = 'bounced' and e.detail->>'class' in ('bad-mailbox', 'bad-domain', 'mailbox-inactive')`,
  soft: (sql) => sql`
    (e.type = 'expired'
     or (e.type = 'bounced' and coalesce(e.detail->>'class', '') not in ('bad-mailbox', 'bad-domain', 'mailbox-inactive')))`,
}

/** Is an event, which is notable, one of these? */
export function isWanted(sql: AnySql, { types, bounces }: WantedEvents): Fragment {
  const named: Fragment = sql`e.type = any(${[...types]}::text[])`
  return bounces ? sql`(${named} or (${bounced[bounces](sql)}))` : named
}

export interface NotableQuestion {
  readonly accountId: number
  readonly from: string
  readonly to: string
  /** No event is older. */
  readonly since: Date
}

/** Of what is found only the first rows, in this order. */
export interface FirstOf {
  readonly sort: 'asc' | 'desc'
  readonly rows: number
  /** Only places of `e` behind this. */
  readonly behind: Fragment
}

/**
 * The deliveries to which one of these happened. Each type is read for itself, since only so is it read in the order of its index,
 * which alone answers, and no further than a page goes; the classes of bounces have indexes of their own.
 */
export function deliveriesWith(
  sql: AnySql,
  { types, bounces }: WantedEvents,
  { accountId, from, to, since }: NotableQuestion,
  first?: FirstOf,
): Fragment {
  const order = first?.sort === 'desc' ? sql`order by 1 desc, 2 desc` : sql`order by 1, 2`
  const found = (what: Fragment): Fragment => sql`(
    select e.message_id, e.recipient_no from events e
     where e.account_id = ${accountId} and e.message_id >= ${from}::uuid and e.message_id < ${to}::uuid
       and e.occurred_at >= ${since}::timestamptz - interval '1 day' and ${what} ${first?.behind ?? sql``}
     group by 1, 2 ${first ? sql`${order} limit ${first.rows}` : sql``})`
  const each = types.map((type) => found(sql`${notable(sql)} and e.type = ${type}::text`))
  if (bounces) each.push(found(sql`${bounced[bounces](sql)} and ${byPeople(sql)}`))
  return sql`
    select message_id, recipient_no
      from (${each.reduce((all, one) => sql`${all} union all ${one}`)}) e group by 1, 2`
}
