import type { AnySql } from '../../platform/database/database.ts'
import { NEVER } from '../../platform/never.ts'
import { flowWalk } from '../queue/flows.ts'
import { parkedWalk, type WaitingFor } from '../queue/parking.ts'

type Fragment = ReturnType<AnySql>

export const QUEUE_GROUPINGS = ['provider', 'account', 'class', 'domain', 'source'] as const
export type QueueGrouping = (typeof QUEUE_GROUPINGS)[number]

/** The reason why deliveries wait in the queue; `sending` if they are in flight. */
export type QueueKind = 'due' | 'later' | 'held' | WaitingFor | 'sending'

export interface GroupCount {
  /** Destination, account id, class, domain or source; null for mail without a source, or that was not tried yet and is not parked. */
  readonly key: string | null
  readonly kind: QueueKind
  readonly count: number
  /** Whether there may be more: the count ended at its bound. */
  readonly more: boolean
  /** The message id of the oldest delivery counted; null if all are scheduled for a later time. */
  readonly oldest: string | null
}

export interface GroupCounts {
  readonly counts: readonly GroupCount[]
  /** Whether there may be groups that were not found. */
  readonly partial: boolean
}

/** Maximum number of rows read of one flow, and of those of one flow that wait at one destination. */
export const MAX_COUNTED = 10_000
/** Bounds of what is read besides the budget. */
interface Most {
  /** Flows that are looked for. */
  readonly flows: number
  /** Deliveries in flight that are counted; a worker has some thousand. */
  readonly sending: number
  /** Pages of the queue in which the largest flows are looked for; undefined: all flows are looked for, in the order of their index. */
  readonly pages?: number
}
const BOUNDS: Most = { flows: 2000, sending: 50_000 }
/** 50 pages have about 1,500 deliveries, enough to find each flow that has a fiftieth of the queue. */
const AT_A_GLANCE: Most = { flows: 40, sending: 2000, pages: 50 }

/**
 * Counts the queue by groups. Every flow is read by its index, due and later mail separately, and parked mail by the index of destinations:
 * about `budget` rows in all for each of the two, and at most 10,000 of one flow.
 *
 * At a glance, the largest flows are found in a sample of the queue, and a count beyond its bound is an estimate by that.
 */
export async function countGroups(
  sql: AnySql,
  by: QueueGrouping,
  budget: number,
  glance = false,
): Promise<GroupCounts> {
  const most = glance ? AT_A_GLANCE : BOUNDS
  const waiting = await countWaiting(sql, by, budget, most)
  const parked = await countParked(sql, by, budget, most)
  const isSampled = most.pages !== undefined && (await isLonger(sql, most.pages))
  const sending = await sql<GroupCount[]>`
    select ${keyOf(sql, by)} as key, 'sending' as kind, count(*)::int as count, false as more, min(message_id::text) as oldest
      from (select * from delivery_queue where worker_id is not null limit ${most.sending}) q group by 1`
  const counts = [...waiting, ...parked, ...sending]
  return {
    counts: counts.map(({ key, kind, count, more, oldest }) => ({ key, kind, count, more, oldest })),
    partial:
      isSampled ||
      [...waiting, ...parked].some(({ more, flows }) => flows >= most.flows || (more && by === 'domain')) ||
      // Rows that were not read may have been tried anywhere.
      waiting.some(({ more }) => more && (by === 'provider' || by === 'source')),
  }
}

type Counted = GroupCount & { readonly flows: number }

/**
 * Counts mail that was tried at a destination last and is not parked. No index has it, since each attempt would have to write it: about `budget` rows
 * are read, the first ones of each flow, and each of the two numbers is a lower bound if there are others.
 */
export function countTriedAt(sql: AnySql, destination: string, budget: number): Promise<readonly TriedCount[]> {
  return sql<TriedCount[]>`
    ${waitingRows(sql, budget)}
    select arm as kind, count(*) filter (where place is null and last_place = ${destination} and waiting_for is distinct from 'hold')::int as count,
           bool_or(more) as more
      from found where arm <> 'held' group by 1`
}

export interface TriedCount {
  readonly kind: 'due' | 'later'
  readonly count: number
  readonly more: boolean
}

/** Mail that is not parked is counted at the destination of its last attempt; where a first one goes is found when it is claimed. */
function countWaiting(sql: AnySql, by: QueueGrouping, budget: number, most: Most): Promise<Counted[]> {
  return sql<Counted[]>`
    ${waitingRows(sql, budget, most)}
    select ${keyOf(sql, by)} as key, case when waiting_for = 'hold' then 'held' else arm end as kind, round(sum(stands))::int as count,
           bool_or(more) as more, min(message_id::text) filter (where arm <> 'later' or state <> 'scheduled') as oldest, max(flows)::int as flows
      from found q where place is null group by 1, 2`
}

/** Rows of each flow that are not in flight, the first of those that are due, later and held. */
function waitingRows(sql: AnySql, budget: number, most = BOUNDS): Fragment {
  const arm = (name: string, when: Fragment): Fragment => sql`
    (select ${name}::text as arm, message_id, recipient_domain, state, place, last_place, waiting_for from delivery_queue
      where worker_id is null and account_id = flow.account_id and class = flow.class and ${when}
      order by next_at limit share.most + 1)`
  const ofFlow: Fragment = sql`account_id = flow.account_id and class = flow.class`
  return sql`
    with recursive flow as (${most.pages ? sampledFlows(sql, most, sql`account_id, class`, sql`true`) : flowWalk(sql, most.flows)}),
         share as materialized (${shareOf(sql, budget, ofFlow)}), found as (
      select flow.account_id, flow.class, one.*, count(*) over (partition by flow.account_id, flow.class, one.arm) > share.most as more,
             share.flows, ${standsFor(sql, most, sql`flow.account_id, flow.class`)} as stands
        from share cross join flow cross join lateral (
          ${arm('due', sql`next_at <= service_now()`)}
          union all
          ${arm('later', sql`next_at > service_now() and next_at < ${NEVER}::timestamptz`)}
          union all
          ${arm('held', sql`next_at >= ${NEVER}::timestamptz`)}) one
    )`
}

function countParked(sql: AnySql, by: QueueGrouping, budget: number, most: Most): Promise<Counted[]> {
  const atDestination: Fragment = sql`place is not null and place = flow.place and class = flow.class and account_id = flow.account_id`
  return sql<Counted[]>`
    with recursive flow as (${most.pages ? sampledFlows(sql, most, sql`place, class, account_id`, sql`place is not null`) : parkedWalk(sql, most.flows)}),
         share as materialized (${shareOf(sql, budget, atDestination)}), found as (
      select flow.place, flow.class, flow.account_id, one.*,
             count(*) over (partition by flow.place, flow.class, flow.account_id) > share.most as more, share.flows,
             ${standsFor(sql, most, sql`flow.place, flow.class, flow.account_id`)} as stands
        from share cross join flow cross join lateral (
          select message_id, recipient_domain, last_place, waiting_for from delivery_queue
           where worker_id is null and ${atDestination}
           order by next_at limit share.most + 1) one
    )
    select ${keyOf(sql, by)} as key, coalesce(waiting_for, 'connections') as kind, round(sum(stands))::int as count,
           bool_or(more) as more, min(message_id::text) as oldest, max(flows)::int as flows
      from found q group by 1, 2`
}

/** The part of the queue, in percent, that has as many pages. */
const partOf = (sql: AnySql, pages: number): Fragment =>
  sql`least(100, 100.0 * ${pages}::int * 8192 / greatest(pg_relation_size('delivery_queue'), 1))`

async function isLonger(sql: AnySql, pages: number): Promise<boolean> {
  const [row] = await sql<{ longer: boolean }[]>`select ${partOf(sql, pages)} < 100 as longer`
  return row?.longer === true
}

/** The largest flows of a sample of pages, with estimates of their sizes. */
function sampledFlows(sql: AnySql, { flows, pages = 0 }: Most, columns: Fragment, which: Fragment): Fragment {
  return sql`
    select ${columns}, count(*) * 100 / ${partOf(sql, pages)} as estimate
      from delivery_queue tablesample system (${partOf(sql, pages)}) where worker_id is null and ${which}
     group by ${columns} order by count(*) desc limit ${flows}`
}

/** Deliveries per row that was read: one, or its part of the estimate. */
function standsFor(sql: AnySql, { pages }: Most, flow: Fragment): Fragment {
  if (pages === undefined) return sql`1`
  const read = sql`count(*) over (partition by ${flow})`
  return sql`case when ${read} > share.most then greatest(1, flow.estimate / ${read}) else 1 end`
}

/** How much of each flow is read: the budget is divided between those that have more than a quarter of an equal share. */
function shareOf(sql: AnySql, budget: number, ofFlow: Fragment): Fragment {
  return sql`
    select count(*) as flows, greatest(10, least(${MAX_COUNTED}, ${budget} / greatest(count(*) filter (where size > probe), 1)))::int as most
      from flow cross join lateral (select greatest(10, ${budget} / 4 / (select count(*) from flow)) as probe) p
     cross join lateral (
       select count(*) as size from (select 1 from delivery_queue where worker_id is null and ${ofFlow} limit probe + 1) first) sized`
}

function keyOf(sql: AnySql, by: QueueGrouping): Fragment {
  switch (by) {
    case 'provider':
      return sql`coalesce(q.place, q.last_place)`
    case 'account':
      return sql`q.account_id::text`
    case 'class':
      return sql`q.class::text`
    case 'domain':
      return sql`q.recipient_domain`
    case 'source':
      return sql`nullif(split_part(coalesce(q.place, q.last_place), '@', 2), '')`
  }
}
