import type { Sql } from '../../platform/database/database.ts'
import { invalidParameter } from '../../platform/errors.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { type Cursor, openCursor, sealCursor } from './cursor.ts'
import { type Filter, filterOf, type LogQuestion, requireDays } from './question.ts'
import { type LogRow, rowOf } from './row.ts'
import { showRows } from './rows.ts'
import {
  countLookedAt,
  countMatches,
  driverOf,
  readInOrder,
  type Search,
  selectLast,
  selectPlaces,
  selectSpan,
} from './store.ts'

export { LOG_WORDS, type LogQuestion } from './question.ts'
export { type Hit, LOG_STATUSES, type LogRow, type LogStatus } from './row.ts'

/** Rows on a page, at most. */
const MOST_ROWS = 1000
/** And with a cursor. */
const MOST_SCROLLED = 5000
/** Rows passed over: each is read, for every page anew. */
const MOST_OFFSET = 10_000
/**
 * Deliveries looked at for those that fit, as many as take some 150 ms of processor time: entries of the index of an account's messages
 * (0.1 µs each), of those of notable events (0.5 µs), messages each with its deliveries (3 µs), of which a day of five million in 12
 * weeks must be among them; deliveries each asked for its events, in every week since then (some 100 µs).
 */
const MOST_LOOKED_AT = { messages: 1_000_000, notable: 250_000, deliveries: 60_000, happened: 2000 }

/** The account's deliveries, each with what became of it, in the order they were accepted. */
export interface EventLog {
  /**
   * A page of them. With `scroll` pages go on where the last one ended, over what there was when the first was read: no row
   * twice, and none left out, whatever is written meanwhile.
   *
   * Throws dateInvalid, datesReversed, parameterInvalid (an unknown event, a text too long, a made-up cursor, an offset or a
   * span too large).
   */
  page<T>(question: LogQuestion, show: (row: LogRow) => T): Promise<LogPage<T>>
}

export interface LogPage<T> {
  /** Each as it was shown. */
  readonly rows: readonly T[]
  /** All matches. */
  readonly total: number
  /** There are more: to be given for the next page. */
  readonly scroll: string | undefined
}

export function eventLogOf({ sql, secrets }: { sql: Sql; secrets: Secrets }): EventLog {
  return {
    async page<T>(question: LogQuestion, show: (row: LogRow) => T) {
      requireDays(question)
      const filter = filterOf(question)
      const { accountId, sort = 'asc', offset = 0, scroll } = question
      const cursor = scroll === undefined ? undefined : openCursor(secrets, question, scroll)
      if (filter.nothing) return { rows: [], total: 0, scroll: undefined }
      if (offset > MOST_OFFSET)
        throw invalidParameter('offset', `must be at most ${MOST_OFFSET}; use scrollid for later pages`)
      const limit = Math.max(1, Math.min(question.limit, cursor ? MOST_SCROLLED : MOST_ROWS))
      return sql.begin('isolation level repeatable read read only', async (snapshot) => {
        await readInOrder(snapshot, true)
        const span = await selectSpan(snapshot, accountId, { first: question.first, last: question.last })
        const until = cursor?.until ?? (await selectLast(snapshot, accountId, span))
        if (until === undefined) return { rows: [], total: 0, scroll: undefined }
        const days = cursor ? { ...span, to: behind(until) } : span
        // A recipient's deliveries have no order but that of their hash.
        const byRecipient = driverOf(filter) === 'recipient'
        const search: Search = { accountId, filter, span: days }
        if (byRecipient) await readInOrder(snapshot, false)
        const total = cursor?.total ?? (await count(snapshot, search))
        const page = { ...search, sort, after: cursor?.place, offset: cursor ? 0 : offset, limit: limit + 1 }
        const found = total === 0 ? [] : await selectPlaces(snapshot, page)
        if (byRecipient) await readInOrder(snapshot, true)
        const places = found.slice(0, limit)
        const place = found.length > limit ? places.at(-1) : undefined
        const next: Cursor | undefined = place && { place, until, total }
        return {
          rows: await showRows(snapshot, accountId, places, (row) => show(rowOf(row))),
          total,
          scroll: next && sealCursor(secrets, question, next),
        }
      }) as Promise<LogPage<T>>
    },
  }
}

async function count(sql: Parameters<typeof countMatches>[0], search: Search): Promise<number> {
  const { filter } = search
  if (filter.messageId !== undefined) return countMatches(sql, search)
  const kind = kindOf(filter)
  const most = MOST_LOOKED_AT[kind]
  const lookedAt = await countLookedAt(sql, search, most)
  if (lookedAt > most) {
    throw invalidParameter('startdate', `filter would scan more than ${most} deliveries; use a shorter date range`)
  }
  return kind === 'messages' || kind === 'notable' ? lookedAt : countMatches(sql, search)
}

/** What is looked at. Of messages and notable events each is a match. */
function kindOf(filter: Filter): keyof typeof MOST_LOOKED_AT {
  if (isOpen(filter)) return 'messages'
  if (isOfIndex(filter)) return 'notable'
  const { events } = filter
  const happened = events !== undefined && (events.types.length > 0 || events.bounces !== undefined)
  return happened && driverOf(filter) !== 'notable' ? 'happened' : 'deliveries'
}

/** No filter at all. */
function isOpen({ nothing: _, ...filter }: Filter): boolean {
  return Object.values(filter).every((value) => value === undefined)
}

/** The index of notable events knows all that matches, and nothing else is to be looked at. */
function isOfIndex({ nothing: _, events, ...filter }: Filter): boolean {
  return events !== undefined && !events.sent && Object.values(filter).every((value) => value === undefined)
}

/** The least id behind this one. */
function behind(id: string): string {
  const next = (BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0')
  return next.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
