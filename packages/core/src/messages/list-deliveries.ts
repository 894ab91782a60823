import type { DeliveryState } from '../delivery/states.ts'
import { parseAddress } from '../mime/address.ts'
import { type AnySql, onlyRow, type Sql } from '../platform/database/database.ts'
import { readInOrder } from '../platform/database/read-in-order.ts'
import { invalidParameter } from '../platform/errors.ts'
import { NEVER } from '../platform/never.ts'
import { messageIdText, parseMessageId } from '../submission/message-id.ts'
import { driverOf, floorOf, type ListFilter, type Position, selectPlaces, type Window } from './list-places.ts'

export interface DeliveryQuery {
  readonly accountId?: number | undefined
  readonly state?: DeliveryState | undefined
  readonly recipient?: string | undefined
  readonly tag?: string | undefined
  /** Accepted at this time or later. Default: seven days before `until`. */
  readonly since?: Date | undefined
  /** Accepted before this time. Default: now. */
  readonly until?: Date | undefined
  readonly limit: number
  /** {@link DeliveryPage.next} of the previous page, with otherwise identical parameters. */
  readonly after?: string | undefined
}

export interface ListedDelivery {
  /** 32 hex digits. */
  readonly messageId: string
  readonly recipientNo: number
  readonly accountId: number
  readonly recipient: string
  readonly state: DeliveryState
  readonly attempts: number
  readonly acceptedAt: Date
  /** Null if it is final, or waits for the operator or for a paused batch. */
  readonly nextAt: Date | null
  /** Null if it is in the queue. */
  readonly finishedAt: Date | null
}

export interface DeliveryPage {
  readonly deliveries: readonly ListedDelivery[]
  /** Cursor of the next page; null if this was the last one. */
  readonly next: string | null
  /** Whether the page ended before its limit because {@link MAX_SEARCHED} deliveries had been searched. */
  readonly partial: boolean
}

/** Deliveries searched at a time. Most pages are full after the first few. */
const STEPS = [1000, 9000, 40_000] as const
/** Maximum number of deliveries searched for a page, which takes about 0.13 s. */
export const MAX_SEARCHED = STEPS.reduce((sum, step) => sum + step, 0)

/**
 * Returns deliveries, newest first. Times are ranges of message ids, so only the weeks in them are read, by index. A page searches a
 * limited number of deliveries, however rare the matches are; then it is `partial`, and `next` continues the search.
 *
 * Throws parameterInvalid (after).
 */
export async function listDeliveries(sql: Sql, query: DeliveryQuery): Promise<DeliveryPage> {
  const { accountId, state, recipient, tag, limit } = query
  const after = query.after === undefined ? undefined : parseCursor(query.after)
  const recipientKey = recipient === undefined ? undefined : (parseAddress(recipient)?.key ?? recipient.toLowerCase())
  const filter: ListFilter = { accountId, state, tag, recipientKey }
  return sql.begin('isolation level repeatable read read only', async (snapshot) => {
    const range = await selectRange(snapshot, query)
    const window = { from: range.from, after: after ?? { messageId: range.to, recipientNo: 0 } }
    const { places, searchedTo } = await findPlaces(snapshot, filter, window, limit + 1)
    const shown = places.slice(0, limit)
    const next = places.length > limit ? shown.at(-1) : searchedTo
    return {
      deliveries: await selectRows(snapshot, shown),
      next: next ? formatCursor(next) : null,
      partial: places.length <= limit && searchedTo !== undefined,
    }
  }) as Promise<DeliveryPage>
}

/** Throws parameterInvalid. */
function parseCursor(text: string): Position {
  const [, id = '', no = ''] = /^([0-9a-f]{32})\.(\d{1,6})$/.exec(text) ?? []
  const messageId = parseMessageId(id)
  if (messageId === undefined) throw invalidParameter('after', 'must be the cursor of the previous page')
  return { messageId, recipientNo: Number(no) }
}

function formatCursor({ messageId, recipientNo }: Position): string {
  return `${messageIdText(messageId)}.${recipientNo}`
}

async function selectRange(sql: AnySql, { since, until }: DeliveryQuery): Promise<{ from: string; to: string }> {
  const [end, begin] = [until?.toISOString() ?? null, since?.toISOString() ?? null]
  // Ids have the time of the host that accepted the message, so there may be some from the future.
  return onlyRow(
    await sql<{ from: string; to: string }[]>`
      select uuidv7_floor(coalesce(${begin}::timestamptz, coalesce(${end}::timestamptz, service_now()) - interval '7 days'))::text as "from",
             uuidv7_floor(coalesce(${end}::timestamptz, service_now() + interval '1 day'))::text as "to"`,
  )
}

interface Found {
  readonly places: readonly Position[]
  /** The position at which the search was stopped; undefined if it is complete. */
  readonly searchedTo: Position | undefined
}

async function findPlaces(sql: AnySql, filter: ListFilter, whole: Window, limit: number): Promise<Found> {
  const driver = driverOf(filter)
  if (driver === 'person' || driver === 'flight') {
    return { places: await selectPlaces(sql, driver, filter, whole, limit), searchedTo: undefined }
  }
  await readInOrder(sql, true)
  const places: Position[] = []
  let { after } = whole
  for (const size of STEPS) {
    const floor = await floorOf(sql, driver, filter, { ...whole, after }, size)
    const window = { from: floor ?? whole.from, after }
    places.push(...(await selectPlaces(sql, driver, filter, window, limit - places.length)))
    if (places.length === limit || floor === undefined) return { places, searchedTo: undefined }
    after = { messageId: floor, recipientNo: 0 }
  }
  return { places, searchedTo: after }
}

async function selectRows(sql: AnySql, places: readonly Position[]): Promise<ListedDelivery[]> {
  if (places.length === 0) return []
  return sql<ListedDelivery[]>`
    select replace(w.id::text, '-', '') as "messageId", w.no as "recipientNo", d.account_id as "accountId", d.recipient, d.state,
           d.attempt as attempts, m.accepted_at as "acceptedAt", d.next_at as "nextAt", d.finished_at as "finishedAt"
      from unnest(${places.map(({ messageId }) => messageId)}::uuid[], ${places.map(({ recipientNo }) => recipientNo)}::int[])
           with ordinality as w(id, no, at)
     cross join lateral (select accepted_at from messages where id = w.id offset 0) m
     cross join lateral (
       select f.account_id, f.recipient, f.state, f.attempt, null::timestamptz as next_at, f.finished_at from finished_deliveries f
        where f.message_id = w.id and f.recipient_no = w.no
       union all
       select q.account_id, q.recipient, q.state, q.attempt, case when q.worker_id is null then nullif(q.next_at, ${NEVER}::timestamptz) end, null
         from delivery_queue q where q.message_id = w.id and q.recipient_no = w.no
       limit 1) d
     order by w.at`
}
