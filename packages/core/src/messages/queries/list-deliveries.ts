import { type NextAttempt, nextAttemptOf } from '../../delivery/outcomes/next-attempt.ts'
import type { DeliveryState } from '../../delivery/queue/states.ts'
import { type AnySql, onlyRow } from '../../platform/database/database.ts'
import { readInOrder } from '../../platform/database/read-in-order.ts'
import type { Reads } from '../../platform/database/reads.ts'
import { invalidParameter } from '../../platform/errors.ts'
import { messageIdText, parseMessageId, timeOfId } from '../../submission/message-id.ts'
import type { EntryPoint } from '../../submission/submission.ts'
import { hasWords } from '../search/entry.ts'
import { findByWords } from '../search/find-words.ts'
import { withNames } from '../search/names.ts'
import type { MessageSearch } from '../search/search.ts'
import { type BouncedLate, lateBounceOf } from './late-bounce.ts'
import { fromOf, hasAttachment, hasConditions, keepsContent, subjectOf } from './list-conditions.ts'
import {
  driverOf,
  floorOf,
  isPersonAbove,
  type ListFilter,
  type Position,
  selectPositions,
  type Window,
} from './list-positions.ts'

export interface DeliveryQuery {
  readonly accountId?: number | undefined
  readonly search: MessageSearch
  /** If `search.since` is absent: only messages accepted within this number of days before `search.until`, or before now. */
  readonly days?: number | undefined
  readonly limit: number
  /** {@link DeliveryPage.next} of the previous page, with otherwise identical parameters. */
  readonly after?: string | undefined
}

export interface ListedDelivery extends NextAttempt, BouncedLate {
  /** 32 hex digits. */
  readonly messageId: string
  readonly recipientNo: number
  /** v2 TRANSID. */
  readonly transactionNumber: string
  readonly accountId: number
  readonly door: EntryPoint
  readonly from: string
  /** As submitted, with its merge tags. */
  readonly subject: string
  readonly tags: readonly string[]
  readonly recipient: string
  readonly kind: 'to' | 'cc' | 'bcc'
  /** The caller's own id of the delivery. */
  readonly reference: string | null
  readonly state: DeliveryState
  /** Why it was dropped or set aside; otherwise null. */
  readonly reason: string | null
  readonly attempts: number
  readonly acceptedAt: Date
  /** Null if it is in the queue. */
  readonly finishedAt: Date | null
  /** Of the latest attempt: the server's code, enhanced code and text. Null if there was no reply. */
  readonly reply: string | null
  /** Bytes as submitted. */
  readonly size: number
  readonly hasAttachment: boolean
  /** Whether its content stays stored after the last outcome. */
  readonly keepsContent: boolean
}

export interface DeliveryPage {
  readonly deliveries: readonly ListedDelivery[]
  /** Cursor of the next page; null if this was the last one. */
  readonly next: string | null
  /** Whether the page ended before its limit because {@link MAX_SEARCHED} deliveries had been searched. */
  readonly partial: boolean
  /** If the page is partial, everything that was accepted at this time or later has been searched; otherwise null. */
  readonly searchedTo: Date | null
  /** How far back a search goes: to this time, or to the account's oldest message that is stored. If null, there is none, or it is of all accounts. */
  readonly searchedFrom: Date | null
}

/** Deliveries searched at a time. Most pages are full after the first few. */
const STEPS = [1000, 9000, 25_000] as const
/** Maximum number of deliveries searched for a page, which takes at most about 0.16 s: conditions on subjects cost most. */
export const MAX_SEARCHED = STEPS.reduce((sum, step) => sum + step, 0)

/** A recipient's deliveries that are read and sorted for a page. Beyond it, the messages are walked, as for any other search. */
const MAX_SORTED = 20_000

/**
 * Returns deliveries, newest first. Times are ranges of message ids, so only the weeks in them are read, by index. A page searches a
 * limited number of deliveries, however rare the matches are; then it is `partial`, and `next` continues the search. Of all accounts
 * together, a recipient's deliveries are searched without a limit.
 *
 * Throws parameterInvalid (after).
 */
export async function listDeliveries(reads: Reads, query: DeliveryQuery): Promise<DeliveryPage> {
  const { accountId, limit } = query
  const after = query.after === undefined ? undefined : parseCursor(query.after)
  return reads.snapshot(async (snapshot) => {
    const search = await withNames(snapshot, { ...query.search, accountId })
    const range = await selectRange(snapshot, { ...query, search })
    const window = { from: range.from, after: after ?? { messageId: range.to, recipientNo: range.recipientNo } }
    const { positions, searchedTo } = await findPositions(snapshot, search, window, limit + 1)
    const shown = positions.slice(0, limit)
    const next = positions.length > limit ? shown.at(-1) : searchedTo
    const partial = positions.length <= limit && searchedTo !== undefined
    return {
      deliveries: await selectRows(snapshot, shown),
      next: next ? formatCursor(next) : null,
      partial,
      searchedTo: partial ? timeOfId(searchedTo.messageId) : null,
      searchedFrom: await oldestOf(snapshot, accountId, timeOfId(range.begin)),
    }
  })
}

async function oldestOf(sql: AnySql, accountId: number | undefined, since: Date): Promise<Date | null> {
  if (accountId === undefined) return since.getTime() > 0 ? since : null
  const [oldest] = await sql<{ id: string }[]>`
    select m.id::text as id from messages m where m.account_id = ${accountId}::int order by m.id limit 1`
  const first = oldest ? timeOfId(oldest.id) : since
  return first > since ? first : since.getTime() > 0 ? since : null
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

interface Range {
  /** Before all messages of the time that is searched. */
  readonly begin: string
  readonly from: string
  /** The list begins before this position. */
  readonly to: string
  readonly recipientNo: number
}

async function selectRange(sql: AnySql, { search, days }: DeliveryQuery): Promise<Range> {
  const { since, until, messageId } = search
  const [end, begin] = [until?.toISOString() ?? null, since?.toISOString() ?? null]
  // Ids have the time of the host that accepted the message, so there may be some from the future.
  const { from, to } = onlyRow(
    await sql<{ from: string; to: string }[]>`
      select uuidv7_floor(coalesce(${begin}::timestamptz,
                                   coalesce(${end}::timestamptz, service_now()) - make_interval(days => ${days ?? null}::int),
                                   'epoch'))::text as "from",
             uuidv7_floor(coalesce(${end}::timestamptz, service_now() + interval '1 day'))::text as "to"`,
  )
  if (messageId === undefined || messageId === '') return { begin: from, from, to, recipientNo: 0 }
  // Of one message, unless it is outside the times. The text of an id has the order of its bytes.
  const isWithin = (since === undefined || messageId >= from) && (until === undefined || messageId < to)
  return isWithin
    ? { begin: from, from: messageId, to: messageId, recipientNo: LAST_NUMBER }
    : { begin: from, from: to, to: from, recipientNo: 0 }
}

/** Above every recipient number. */
const LAST_NUMBER = 1_000_000

interface Found {
  readonly positions: readonly Position[]
  /** The position at which the search was stopped; undefined if it is complete. */
  readonly searchedTo: Position | undefined
}

async function findPositions(sql: AnySql, filter: ListFilter, whole: Window, limit: number): Promise<Found> {
  if (filter.messageId === '') return { positions: [], searchedTo: undefined }
  if (hasWords(filter)) {
    await readInOrder(sql, true)
    return findByWords(sql, filter, whole, limit)
  }
  const wanted = driverOf(filter)
  const isMany = wanted === 'person' && (await isPersonAbove(sql, filter, whole, MAX_SORTED))
  const driver = isMany ? 'messages' : wanted
  if (driver === 'person' || driver === 'flight') {
    return { positions: await selectPositions(sql, driver, filter, whole, limit), searchedTo: undefined }
  }
  await readInOrder(sql, true)
  const positions: Position[] = []
  let { after } = whole
  for (const size of stepsOf(filter, limit)) {
    const floor = await floorOf(sql, driver, filter, { ...whole, after }, size)
    const window = { from: floor ?? whole.from, after }
    positions.push(...(await selectPositions(sql, driver, filter, window, limit - positions.length)))
    if (positions.length === limit || floor === undefined) return { positions, searchedTo: undefined }
    after = { messageId: floor, recipientNo: 0 }
  }
  return { positions, searchedTo: after }
}

/** Without conditions, the first deliveries are those of the page, unless some were erased. */
function stepsOf(filter: ListFilter, limit: number): readonly number[] {
  const [first, ...further] = STEPS
  return hasConditions(filter) || limit >= first ? STEPS : [limit, first - limit, ...further]
}

async function selectRows(sql: AnySql, positions: readonly Position[]): Promise<ListedDelivery[]> {
  if (positions.length === 0) return []
  const columns = sql`message_id, recipient_no, account_id, recipient, kind, reference, personal, state, attempt`
  return sql<ListedDelivery[]>`
    select replace(w.id::text, '-', '') as "messageId", w.no as "recipientNo",
           (m.transaction_base + 4 * w.no)::text as "transactionNumber", d.account_id as "accountId", m.door,
           ${fromOf(sql)} as "from", ${subjectOf(sql)} as subject, m.tags, d.recipient, d.kind, d.reference, d.state, d.reason,
           d.attempt as attempts, m.accepted_at as "acceptedAt", d.next_at as "nextAt", d.finished_at as "finishedAt", d.is_paused as "isPaused",
           d.is_held as "isHeld",
           nullif(concat_ws(' ', nullif(a.code, 0), a.enhanced, a.reply), '') as reply, m.size,
           b.bounced_at as "bouncedAt", b.bounce, ${hasAttachment(sql)} as "hasAttachment",
           ${keepsContent(sql)} as "keepsContent"
      from unnest(${positions.map(({ messageId }) => messageId)}::uuid[], ${positions.map(({ recipientNo }) => recipientNo)}::int[])
           with ordinality as w(id, no, at)
     cross join lateral (select * from messages where id = w.id offset 0) m
     cross join lateral (
       select ${columns}, reason, null::timestamptz as next_at, finished_at, false as is_paused, false as is_held from finished_deliveries
        where message_id = w.id and recipient_no = w.no
       union all
       select ${columns}, set_aside, planned_at, null, is_paused, is_held
         from delivery_queue q cross join lateral (${nextAttemptOf(sql)}) n where message_id = w.id and recipient_no = w.no
       limit 1) d
      left join lateral (
       select code, enhanced, reply from attempts where message_id = w.id and recipient_no = w.no
        order by attempt desc limit 1) a on true
      left join lateral (${lateBounceOf(sql)}) b on true
     order by w.at`
}
