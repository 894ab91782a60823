import { URGENT } from '../../accounts/mail-class.ts'
import type { AnySql } from '../../platform/database/database.ts'
import { type Flow, flowWalk } from './flows.ts'

/** Number of deliveries up to which those that are ahead of another one are counted. */
const MAX_AHEAD = 10_000
/** The same if the deliveries of a message wait at more than ten destinations: 10,000 at each of 60 took 0.9 s. */
const MAX_AHEAD_AT_MANY = { places: 10, ahead: 1000 } as const
/** Flows among which other due mail is searched. */
const MAX_FLOWS = 1000

/** Deliveries of one message. */
export interface InLine extends Flow {
  /** UUID. */
  readonly messageId: string
  readonly recipientNos: readonly number[]
}

export interface Ahead {
  readonly count: number
  /** Counting ended there; there may be more. */
  readonly isMinimum: boolean
}

/** By recipient number. */
export type AheadByNo = ReadonlyMap<number, Ahead>

/**
 * Returns how many deliveries of the flow are due before each of these due ones. One range of the flow's index, at most 10,000 entries,
 * however many deliveries there are.
 */
export async function aheadInFlow(sql: AnySql, line: InLine): Promise<AheadByNo> {
  const { accountId, class: of, messageId, recipientNos } = line
  const rows = await sql<{ recipientNo: number; ahead: number }[]>`
    select recipient_no as "recipientNo", ahead from (
      select message_id, recipient_no, (row_number() over (order by next_at, message_id, recipient_no) - 1)::int as ahead from (
        select next_at, message_id, recipient_no from delivery_queue
         where worker_id is null and account_id = ${accountId}::int and class = ${of}::smallint and next_at <= service_now()
         order by next_at limit ${MAX_AHEAD}) first) numbered
     where message_id = ${messageId}::uuid and recipient_no = any(${[...recipientNos]}::int[])`
  return completed(rows, recipientNos, MAX_AHEAD)
}

/**
 * Returns how many deliveries are ahead of each of these, which are parked at these destinations: those of the same flow that are claimed before, and
 * urgent ones of all accounts. Other flows take turns. Per destination two ranges of the index of parked mail, at most 10,000 entries each, or 1,000
 * if there are more than ten destinations.
 */
export async function aheadAtDestinations(
  sql: AnySql,
  line: InLine,
  destinations: readonly string[],
): Promise<AheadByNo> {
  const { accountId, class: of, messageId, recipientNos } = line
  const most = destinations.length > MAX_AHEAD_AT_MANY.places ? MAX_AHEAD_AT_MANY.ahead : MAX_AHEAD
  const rows = await sql<{ recipientNo: number; ahead: number }[]>`
    select own.recipient_no as "recipientNo", least(own.before + urgent.before, ${most})::int as ahead
      from unnest(${[...destinations]}::text[]) as p(place)
     cross join lateral (
       select count(*) as before from (
         select from delivery_queue
          where worker_id is null and place is not null and place = p.place and class = ${URGENT}::smallint and ${of}::smallint > ${URGENT}
          limit ${most}) first) urgent
     cross join lateral (
       select message_id, recipient_no, row_number() over (order by next_at, message_id, recipient_no) - 1 as before from (
         select next_at, message_id, recipient_no from delivery_queue
          where worker_id is null and place is not null and place = p.place and class = ${of}::smallint and account_id = ${accountId}::int
          order by next_at limit ${most}) first) own
     where own.message_id = ${messageId}::uuid and own.recipient_no = any(${[...recipientNos]}::int[])`
  return completed(rows, recipientNos, most)
}

/** Deliveries that were not reached have at least as many ahead as are counted. */
function completed(
  rows: readonly { recipientNo: number; ahead: number }[],
  recipientNos: readonly number[],
  most: number,
): AheadByNo {
  const found = new Map(rows.map(({ recipientNo, ahead }) => [recipientNo, ahead]))
  return new Map(
    recipientNos.map((recipientNo) => {
      const count = found.get(recipientNo) ?? most
      return [recipientNo, { count, isMinimum: count >= most }]
    }),
  )
}

/** Returns whether another flow has due mail, among the first 1,000 flows. At most two index probes per flow. */
export async function isOtherFlowDue(sql: AnySql, { accountId, class: of }: Flow): Promise<boolean> {
  const rows = await sql`
    with recursive flow as (${flowWalk(sql, MAX_FLOWS)})
    select 1 from flow
     where (account_id, class) <> (${accountId}::int, ${of}::smallint)
       and exists (select from delivery_queue q where q.worker_id is null and q.account_id = flow.account_id
                                                  and q.class = flow.class and q.next_at <= service_now())
     limit 1`
  return rows.length > 0
}
