import type { DeliveryState } from '../delivery/states.ts'
import type { AnySql } from '../platform/database/database.ts'

type Fragment = ReturnType<AnySql>

/** A delivery's position in the list, which is ordered by message id and recipient number, both descending. */
export interface Position {
  /** UUID. */
  readonly messageId: string
  readonly recipientNo: number
}

export interface ListFilter {
  readonly accountId: number | undefined
  readonly state: DeliveryState | undefined
  /** The address in canonical lower-case form. */
  readonly recipientKey: string | undefined
  readonly tag: string | undefined
}

/** A part of the list: after `after`, down to the message `from`. */
export interface Window {
  readonly from: string
  readonly after: Position
}

/**
 * How deliveries are found. `person`: by the indexes of recipients. `flight`: by the index of claimed deliveries. `queue`: by walking the
 * queue. `messages`: by walking the messages, of the account if there is one.
 */
export type Driver = 'person' | 'flight' | 'queue' | 'messages'

const QUEUED: ReadonlySet<string> = new Set(['scheduled', 'queued', 'deferred', 'sending'])

/** Returns the driver of a filter. An account's messages are its own index, which a busy queue of other accounts does not lengthen. */
export function driverOf({ recipientKey, state, accountId }: ListFilter): Driver {
  if (recipientKey !== undefined) return 'person'
  if (state === 'sending') return 'flight'
  return state !== undefined && QUEUED.has(state) && accountId === undefined ? 'queue' : 'messages'
}

/**
 * Returns the message that ends a walk over about `size` deliveries; undefined if the walk reaches `from` before. Reads at most `size` entries
 * of an index.
 */
export async function floorOf(
  sql: AnySql,
  driver: 'queue' | 'messages',
  { accountId }: ListFilter,
  { from, after }: Window,
  size: number,
): Promise<string | undefined> {
  const within = (id: Fragment): Fragment => sql`
    ${id} >= ${from}::uuid and ${id} <= ${after.messageId}::uuid and (${id} < ${after.messageId}::uuid or ${after.recipientNo}::int > 0)`
  const rows =
    driver === 'queue'
      ? sql<{ id: string }[]>`
          select message_id::text as id from delivery_queue where ${within(sql`message_id`)}
           order by message_id desc, recipient_no desc limit 1 offset ${size}`
      : sql<{ id: string }[]>`
          select id::text as id from (
            select id, sum(recipients) over (order by id desc rows unbounded preceding) as total
              from (select id, recipients from messages where ${within(sql`id`)} ${ofAccount(sql, sql`account_id`, accountId)}
                     order by id desc limit ${size}) first) counted
           where total >= ${size}::int order by id desc limit 1`
  return (await rows)[0]?.id
}

/** Returns the first `limit` positions of a window. */
export async function selectPlaces(
  sql: AnySql,
  driver: Driver,
  filter: ListFilter,
  window: Window,
  limit: number,
): Promise<Position[]> {
  const { state, tag } = filter
  const { messageId, recipientNo } = window.after
  const from = sql`(${sourceOf(sql, driver, filter, window)}) d`
  // `offset 0` keeps the planner from walking the messages instead.
  const tagged =
    tag === undefined
      ? sql``
      : sql`cross join lateral (select m.tags from messages m where m.id = d.message_id offset 0) m`
  return sql<Position[]>`
    select d.message_id::text as "messageId", d.recipient_no as "recipientNo" from ${from} ${tagged}
     where (d.message_id < ${messageId}::uuid or d.recipient_no < ${recipientNo}::int)
       ${state === undefined ? sql`` : sql`and d.state = ${state}`} ${tag === undefined ? sql`` : sql`and ${tag}::text = any(m.tags)`}
     order by d.message_id desc, d.recipient_no desc limit ${limit}`
}

function ofAccount(sql: AnySql, column: Fragment, accountId: number | undefined): Fragment {
  return accountId === undefined ? sql`` : sql`and ${column} = ${accountId}::int`
}

function sourceOf(sql: AnySql, driver: Driver, filter: ListFilter, { from, after }: Window): Fragment {
  const { accountId, state, recipientKey = '' } = filter
  const within = (id: Fragment): Fragment => sql`${id} >= ${from}::uuid and ${id} <= ${after.messageId}::uuid`
  const columns = sql`message_id, recipient_no, state`
  switch (driver) {
    case 'queue':
      return sql`select ${columns} from delivery_queue where ${within(sql`message_id`)}`
    case 'flight':
      return sql`
        select ${columns} from delivery_queue
         where worker_id is not null and ${within(sql`message_id`)} ${ofAccount(sql, sql`account_id`, accountId)}`
    case 'person': {
      const same = sql`recipient_key = ${recipientKey}::text`
      const hash = sql`hashtextextended(recipient_key, account_id) = hashtextextended(${recipientKey}::text, a.id) and ${same}`
      // In the queue, `offset 0` keeps the range out of the inner query: by the primary key it would read all that waits.
      return sql`
        select d.message_id, d.recipient_no, d.state
          from accounts a cross join lateral (
            select ${columns} from finished_deliveries where ${hash} and account_id = a.id and ${within(sql`message_id`)}
            union all
            select ${columns} from (
              select ${columns}, account_id from delivery_queue where worker_id is null and ${hash} offset 0) q
             where q.account_id = a.id and ${within(sql`q.message_id`)}) d
         where true ${ofAccount(sql, sql`a.id`, accountId)}
        union all
        select ${columns} from delivery_queue
         where worker_id is not null and ${same} and ${within(sql`message_id`)} ${ofAccount(sql, sql`account_id`, accountId)}`
    }
    case 'messages': {
      const finished = sql`
        select f.recipient_no, f.state from finished_deliveries f where f.message_id = m.id`
      const queued = sql`select q.recipient_no, q.state from delivery_queue q where q.message_id = m.id`
      const each = state === undefined ? sql`${finished} union all ${queued}` : QUEUED.has(state) ? queued : finished
      return sql`
        select m.id as message_id, d.recipient_no, d.state
          from messages m cross join lateral (${each} offset 0) d
         where ${within(sql`m.id`)} ${ofAccount(sql, sql`m.account_id`, accountId)}`
    }
  }
}
