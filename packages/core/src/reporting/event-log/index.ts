import { readInOrder } from '../../platform/database/read-in-order.ts'
import type { Reads } from '../../platform/database/reads.ts'
import { invalidParameter } from '../../platform/errors.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import { openCursor, sealCursor } from './cursor.ts'
import { type Filter, type LogQuery, parseFilter, requireDays } from './query.ts'
import { type LogRow, toLogRow } from './row.ts'
import { showRows } from './rows.ts'
import { countLookedAt, countMatches, driverOf, type Search, selectLast, selectPlaces, selectSpan } from './store.ts'

export { LOG_EVENTS as LOG_WORDS, type LogQuery as LogQuestion } from './query.ts'
export { type Hit, LOG_STATUSES, type LogRow, type LogStatus } from './row.ts'

/** Maximum rows on a page without a cursor. */
const MAX_ROWS = 1000
/** Maximum rows on a page with a cursor. */
const MAX_ROWS_WITH_CURSOR = 5000
/** Maximum rows to skip. Every page reads all skipped rows again. */
const MAX_OFFSET = 10_000
/**
 * Maximum number of deliveries that a search may scan, which limits it to about 150 ms of processor time. `messages`: entries of the
 * index of an account's messages (0.1 µs each). `notable`: entries of the indexes of notable events (0.5 µs each). `deliveries`:
 * messages with their deliveries (3 µs each); one day of an account with five million messages in 12 weeks must be within the limit.
 * `eventLookups`: deliveries with a lookup of their events in every week since (about 100 µs each).
 */
const MAX_SCANNED = { messages: 1_000_000, notable: 250_000, deliveries: 60_000, eventLookups: 2000 }

/** The account's deliveries with their outcomes, in the order in which they were accepted. */
export interface EventLog {
  /**
   * Returns a page. With `scroll` it continues the previous page, over the deliveries that existed when the first page was read: no
   * row appears twice or is missing, whatever is written meanwhile.
   *
   * Throws dateInvalid, datesReversed or parameterInvalid (an unknown event, a text that is too long, a forged cursor, an offset or
   * date range that is too large). Without `reads`, it shows the current state.
   */
  page<T>(question: LogQuery, show: (row: LogRow) => T, reads?: Reads): Promise<LogPage<T>>
}

export interface LogPage<T> {
  /** The results of `show`. */
  readonly rows: readonly T[]
  /** Number of all matches. */
  readonly total: number
  /** Cursor of the next page; undefined if there is none. */
  readonly scroll: string | undefined
}

export function createEventLog({ reads: current, secrets }: { reads: Reads; secrets: Secrets }): EventLog {
  return {
    async page<T>(question: LogQuery, show: (row: LogRow) => T, reads = current): Promise<LogPage<T>> {
      requireDays(question)
      const filter = parseFilter(question)
      const { accountId, sort = 'asc', offset = 0, scroll } = question
      const cursor = scroll === undefined ? undefined : openCursor(secrets, question, scroll)
      if (filter.nothing) return { rows: [], total: 0, scroll: undefined }
      if (offset > MAX_OFFSET)
        throw invalidParameter('offset', `must be at most ${MAX_OFFSET}; use scrollid for later pages`)
      const needs = cursor ? { committedBefore: cursor.seenUntil ?? Number.POSITIVE_INFINITY } : {}
      const limit = Math.max(1, Math.min(question.limit, cursor ? MAX_ROWS_WITH_CURSOR : MAX_ROWS))
      const found = await reads.snapshot(async (snapshot) => {
        await readInOrder(snapshot, true)
        const span = await selectSpan(snapshot, accountId, { first: question.first, last: question.last })
        const until = cursor?.until ?? (await selectLast(snapshot, accountId, span))
        if (until === undefined) return { rows: [], total: 0, next: undefined }
        const days = cursor ? { ...span, to: idAfter(until) } : span
        // The index of a recipient's deliveries does not return them in order, so they must be sorted.
        const byRecipient = driverOf(filter) === 'recipient'
        const search: Search = { accountId, filter, span: days }
        if (byRecipient) await readInOrder(snapshot, false)
        const total = cursor?.total ?? (await count(snapshot, search))
        const page = { ...search, sort, after: cursor?.place, offset: cursor ? 0 : offset, limit: limit + 1 }
        const found = total === 0 ? [] : await selectPlaces(snapshot, page)
        if (byRecipient) await readInOrder(snapshot, true)
        const places = found.slice(0, limit)
        const place = found.length > limit ? places.at(-1) : undefined
        return {
          rows: await showRows(snapshot, accountId, places, (row) => show(toLogRow(row))),
          total,
          next: place && { place, until, total },
        }
      }, needs)
      // Later pages must contain no less than the first.
      const seenUntil = cursor ? cursor.seenUntil : reads.seenUntil()
      const { rows, total, next } = found
      return { rows, total, scroll: next && sealCursor(secrets, question, { ...next, seenUntil }) }
    },
  }
}

async function count(sql: Parameters<typeof countMatches>[0], search: Search): Promise<number> {
  const { filter } = search
  if (filter.messageId !== undefined) return countMatches(sql, search)
  const kind = kindOf(filter)
  const limit = MAX_SCANNED[kind]
  const scanned = await countLookedAt(sql, search, limit)
  if (scanned > limit) {
    throw invalidParameter('startdate', `filter would scan more than ${limit} deliveries; use a shorter date range`)
  }
  return kind === 'messages' || kind === 'notable' ? scanned : countMatches(sql, search)
}

/** Returns what a search scans. Every scanned message or notable event is a match. */
function kindOf(filter: Filter): keyof typeof MAX_SCANNED {
  if (isUnfiltered(filter)) return 'messages'
  if (isIndexOnly(filter)) return 'notable'
  const { events } = filter
  const looksUpEvents = events !== undefined && (events.types.length > 0 || events.bounces !== undefined)
  return looksUpEvents && driverOf(filter) !== 'notable' ? 'eventLookups' : 'deliveries'
}

/** Whether there is no filter at all. */
function isUnfiltered({ nothing: _, ...filter }: Filter): boolean {
  return Object.values(filter).every((value) => value === undefined)
}

/** Whether the indexes of notable events determine all matches, so that nothing else has to be scanned. */
function isIndexOnly({ nothing: _, events, ...filter }: Filter): boolean {
  return events !== undefined && !events.sent && Object.values(filter).every((value) => value === undefined)
}

/** Returns the smallest id after this one. */
function idAfter(id: string): string {
  const next = (BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0')
  return next.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
