import type { AnySql } from '../../platform/database/database.ts'
import type { Position } from '../search/find-blocks.ts'
import { type MessageSearch, STATE_GROUPS } from '../search/search.ts'
import { conditionsOf, readsMessage } from './list-conditions.ts'

type Fragment = ReturnType<AnySql>

export type { Position }

export interface ListFilter extends MessageSearch {
  readonly accountId: number | undefined
}

/** A part of the list: after `after`, down to the message `from`. */
export interface Window {
  readonly from: string
  readonly after: Position
}

/**
 * How deliveries are found. `person`: by the indexes of recipients. `flight`: by the index of claimed deliveries. `queue`: by walking the
 * queue, of the account if there is one (`waiting`). `messages`: by walking the messages, likewise. `met`: by walking the account's events of a type.
 */
export type Driver = 'person' | 'flight' | 'queue' | 'waiting' | 'messages' | 'met'
export type WalkingDriver = Exclude<Driver, 'person' | 'flight'>

const QUEUED: ReadonlySet<string> = new Set(STATE_GROUPS.waiting)

export function driverOf({ messageId, recipientKey, states = [], met = [], accountId }: ListFilter): Driver {
  if (messageId !== undefined) return 'messages'
  if (recipientKey !== undefined) return 'person'
  if (met.length > 0) return met.length === 1 && states.length === 0 && accountId !== undefined ? 'met' : 'messages'
  if (states.length === 0 || !states.every((state) => QUEUED.has(state))) return 'messages'
  if (states.every((state) => state === 'sending')) return 'flight'
  return accountId === undefined ? 'queue' : 'waiting'
}

/**
 * Returns the message that ends a walk over about `size` deliveries; undefined if the walk reaches `from` before. Reads at most `size` entries
 * of an index.
 */
export async function floorOf(
  sql: AnySql,
  driver: WalkingDriver,
  { accountId, met = [] }: ListFilter,
  { from, after }: Window,
  size: number,
): Promise<string | undefined> {
  const within = (id: Fragment): Fragment => sql`
    ${id} >= ${from}::uuid and ${id} <= ${after.messageId}::uuid and (${id} < ${after.messageId}::uuid or ${after.recipientNo}::int > 0)`
  const rows =
    driver === 'messages'
      ? sql<{ id: string }[]>`
          select id::text as id from (
            select id, sum(recipients) over (order by id desc rows unbounded preceding) as total
              from (select id, recipients from messages where ${within(sql`id`)} ${ofAccount(sql, sql`account_id`, accountId)}
                     order by id desc limit ${size}) first) counted
           where total >= ${size}::int order by id desc limit 1`
      : driver === 'met'
        ? sql<{ id: string }[]>`
            select message_id::text as id from events where ${isMet(sql, accountId, met)} and ${within(sql`message_id`)}
             order by message_id desc, recipient_no desc limit 1 offset ${size}`
        : sql<{ id: string }[]>`
          select message_id::text as id from delivery_queue
           where ${within(sql`message_id`)} ${driver === 'waiting' ? sql`and worker_id is null` : sql``}
             ${ofAccount(sql, sql`account_id`, accountId)}
           order by message_id desc, recipient_no desc limit 1 offset ${size}`
  return (await rows)[0]?.id
}

/** Whether an account has more deliveries to a recipient than `limit`. Never of all accounts together. */
export async function isPersonAbove(sql: AnySql, filter: ListFilter, window: Window, limit: number): Promise<boolean> {
  if (filter.accountId === undefined) return false
  const rows = await sql`
    select 1 from (${sourceOf(sql, 'person', filter, window)}) d limit 1 offset ${limit}`
  return rows.length > 0
}

/** Returns the first `limit` positions of a window. */
export async function selectPositions(
  sql: AnySql,
  driver: Driver,
  filter: ListFilter,
  window: Window,
  limit: number,
): Promise<Position[]> {
  const { messageId, recipientNo } = window.after
  const isWalk = driver === 'messages'
  // The walk has the message already. `offset 0` keeps the planner from walking the messages for the others.
  const from = isWalk
    ? walkOf(sql, filter)
    : readsMessage(filter)
      ? sql`(${sourceOf(sql, driver, filter, window)}) d
            cross join lateral (select * from messages m where m.id = d.message_id offset 0) m`
      : sql`(${sourceOf(sql, driver, filter, window)}) d`
  const id = isWalk ? sql`m.id` : sql`d.message_id`
  const within = isWalk
    ? sql`and m.id >= ${window.from}::uuid and m.id <= ${messageId}::uuid ${ofAccount(sql, sql`m.account_id`, filter.accountId)}`
    : sql``
  return sql<Position[]>`
    select ${id}::text as "messageId", d.recipient_no as "recipientNo" from ${from}
     where (${id} < ${messageId}::uuid or d.recipient_no < ${recipientNo}::int) ${within} ${conditionsOf(sql, filter)}
     order by ${id} desc, d.recipient_no desc limit ${limit}`
}

/** The account's events of the type, by the index of those that are caused by recipients. */
function isMet(sql: AnySql, accountId: number | undefined, met: readonly string[]): Fragment {
  return sql`account_id = ${accountId ?? 0}::int and type = ${met[0] ?? ''}::text and not coalesce(detail ? 'machine', false)
             and (type in ('bounced', 'expired', 'dropped', 'invalid', 'opened', 'clicked', 'unsubscribed', 'complained'))`
}

/** The messages with their deliveries. */
function walkOf(sql: AnySql, { states, met }: ListFilter): Fragment {
  const of = (table: Fragment): Fragment => sql`select ${columnsOf(sql)} from ${table} o where o.message_id = m.id`
  const [finished, queued] = [of(sql`finished_deliveries`), of(sql`delivery_queue`)]
  const isQueued = (state: string) => QUEUED.has(state)
  const isOfBoth = !states || met !== undefined || (states.some(isQueued) && !states.every(isQueued))
  const each = isOfBoth ? sql`${finished} union all ${queued}` : states.every(isQueued) ? queued : finished
  return sql`messages m cross join lateral (${each} offset 0) d`
}

const columnsOf = (sql: AnySql): Fragment =>
  sql`message_id, recipient_no, state, recipient_key, recipient_domain, personal`

function ofAccount(sql: AnySql, column: Fragment, accountId: number | undefined): Fragment {
  return accountId === undefined ? sql`` : sql`and ${column} = ${accountId}::int`
}

function sourceOf(
  sql: AnySql,
  driver: Exclude<Driver, 'messages'>,
  filter: ListFilter,
  { from, after }: Window,
): Fragment {
  const { accountId, states, met = [], recipientKey = '' } = filter
  const within = (id: Fragment): Fragment => sql`${id} >= ${from}::uuid and ${id} <= ${after.messageId}::uuid`
  const columns = columnsOf(sql)
  const claimed: Fragment = sql`
    select ${columns} from delivery_queue
     where worker_id is not null and ${within(sql`message_id`)} ${ofAccount(sql, sql`account_id`, accountId)}`
  switch (driver) {
    case 'queue':
      return sql`select ${columns} from delivery_queue where ${within(sql`message_id`)}`
    case 'waiting': {
      const waiting: Fragment = sql`
        select ${columns} from delivery_queue
         where worker_id is null and ${within(sql`message_id`)} ${ofAccount(sql, sql`account_id`, accountId)}`
      return states?.includes('sending') ? sql`${waiting} union all ${claimed}` : waiting
    }
    case 'flight':
      return claimed
    case 'met':
      return sql`
        select o.* from (
          select distinct message_id as id, recipient_no as no from events where ${isMet(sql, accountId, met)} and ${within(sql`message_id`)}) e
         cross join lateral (
          select ${columns} from finished_deliveries where message_id = e.id and recipient_no = e.no
          union all
          select ${columns} from delivery_queue where message_id = e.id and recipient_no = e.no offset 0) o`
    case 'person': {
      const same = sql`recipient_key = ${recipientKey}::text`
      const hash = sql`hashtextextended(recipient_key, account_id) = hashtextextended(${recipientKey}::text, a.id) and ${same}`
      // In the queue, `offset 0` keeps the range out of the inner query: by the primary key it would read all that waits.
      return sql`
        select d.message_id, d.recipient_no, d.state, d.recipient_key, d.recipient_domain, d.personal
          from accounts a cross join lateral (
            select ${columns} from finished_deliveries where ${hash} and account_id = a.id and ${within(sql`message_id`)}
            union all
            select ${columns} from (
              select ${columns}, account_id from delivery_queue where worker_id is null and ${hash} offset 0) q
             where q.account_id = a.id and ${within(sql`q.message_id`)}) d
         where true ${ofAccount(sql, sql`a.id`, accountId)}
        union all
        ${claimed} and ${same}`
    }
  }
}

/** Returns those of some positions that meet the conditions, in their order. */
export async function keepMeeting(
  sql: AnySql,
  filter: ListFilter,
  positions: readonly Position[],
): Promise<Position[]> {
  if (positions.length === 0) return []
  const columns = columnsOf(sql)
  return sql<Position[]>`
    select w.id::text as "messageId", w.no as "recipientNo"
      from unnest(${positions.map(({ messageId }) => messageId)}::uuid[], ${positions.map(({ recipientNo }) => recipientNo)}::int[])
           with ordinality as w(id, no, at)
     cross join lateral (
       select ${columns} from finished_deliveries where message_id = w.id and recipient_no = w.no
       union all
       select ${columns} from delivery_queue where message_id = w.id and recipient_no = w.no limit 1) d
     cross join lateral (select * from messages m where m.id = w.id offset 0) m
     where true ${conditionsOf(sql, filter)}
     order by w.at`
}
