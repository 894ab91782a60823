import type { AnySql } from '../../platform/database/database.ts'
import { readInOrder } from '../../platform/database/read-in-order.ts'
import type { Reads } from '../../platform/database/reads.ts'
import { invalidParameter } from '../../platform/errors.ts'
import type { Secrets } from '../../platform/security/secrets.ts'
import { timeOfId } from '../../submission/message-id.ts'
import { type Cursor, openCursor, sealCursor } from './cursor.ts'
import { firstPart, idAfter, laterPart, type Part, spanAfter } from './part.ts'
import { type LogQuery, parseFilter, requireDays } from './query.ts'
import { type LogRow, toLogRow } from './row.ts'
import { showRows } from './rows.ts'
import { driverOf, type Search, type Sort, selectLast, selectPlaces, selectSpan } from './store.ts'

export { LOG_EVENTS as LOG_WORDS, type LogQuery as LogQuestion } from './query.ts'
export { type Hit, LOG_STATUSES, type LogRow, type LogStatus } from './row.ts'

/** Maximum rows on a page without a cursor. */
const MAX_ROWS = 1000
/** Maximum rows on a page with a cursor. */
const MAX_ROWS_WITH_CURSOR = 5000
/** Maximum rows to skip. Every page reads all skipped rows again. */
const MAX_OFFSET = 10_000

/** The account's deliveries with their outcomes, in the order in which they were accepted. */
export interface EventLog {
  /**
   * Returns a page. With `scroll` it continues the previous page, over the deliveries that existed when the first page was read: no
   * row appears twice or is missing, whatever is written meanwhile. No search is too large: a page shows what it found within the
   * limits of part.ts, perhaps nothing, and its cursor goes on from there.
   *
   * Throws dateInvalid, datesReversed or parameterInvalid (an unknown event, a text that is too long, a forged cursor, an offset that
   * is too large). Without `reads`, it shows the current state.
   */
  page<T>(question: LogQuery, show: (row: LogRow) => T, reads?: Reads): Promise<LogPage<T>>
}

export interface LogPage<T> {
  /** The results of `show`. */
  readonly rows: readonly T[]
  /** Number of all matches; with `isMinimum`, there may be more. */
  readonly total: number
  readonly isMinimum: boolean
  /** How far this page searched if it is not full although there is a next one: the time of acceptance of the last message that it scanned. */
  readonly searchedTo: Date | undefined
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
      if (filter.nothing) return NOTHING
      if (offset > MAX_OFFSET)
        throw invalidParameter('offset', `must be at most ${MAX_OFFSET}; use scrollid for later pages`)
      const needs = cursor ? { committedBefore: cursor.seenUntil ?? Number.POSITIVE_INFINITY } : {}
      const limit = Math.max(1, Math.min(question.limit, cursor ? MAX_ROWS_WITH_CURSOR : MAX_ROWS))
      const found = await reads.snapshot(async (snapshot) => {
        await readInOrder(snapshot, true)
        const span = await selectSpan(snapshot, accountId, { first: question.first, last: question.last })
        const until = cursor?.until ?? (await selectLast(snapshot, accountId, span))
        if (until === undefined) return { ...NOTHING, next: undefined }
        const days = cursor ? spanAfter({ ...span, to: idAfter(until) }, sort, cursor.place) : span
        const search: Search = { accountId, filter, span: days }
        // The index of a recipient's deliveries does not return them in order, so they must be sorted.
        const byRecipient = driverOf(search) === 'recipient'
        if (byRecipient) await readInOrder(snapshot, false)
        const part = cursor ? await continued(snapshot, search, sort, cursor) : await firstPart(snapshot, search, sort)
        if (part.search.isFrequent) await readInOrder(snapshot, true)
        const page = { ...part.search, sort, after: cursor?.place, offset: cursor ? 0 : offset, limit: limit + 1 }
        const found = part.total === 0 && !cursor ? [] : await selectPlaces(snapshot, page)
        if (byRecipient) await readInOrder(snapshot, true)
        const stoppedAt = found.length < limit ? part.end : undefined
        if (stoppedAt && page.offset > 0)
          throw invalidParameter('offset', 'skips more than one call searches; use scrollid for later pages')
        const places = found.slice(0, limit)
        const place = found.length > limit ? places.at(-1) : part.end
        return {
          rows: await showRows(snapshot, accountId, places, (row) => show(toLogRow(row))),
          total: part.total,
          isMinimum: part.isMinimum,
          searchedTo: stoppedAt && timeOfId(stoppedAt.messageId),
          next: place && { place, until, total: part.total, isMinimum: part.isMinimum },
        }
      }, needs)
      // Later pages must contain no less than the first.
      const seenUntil = cursor ? cursor.seenUntil : reads.seenUntil()
      const { next, ...page } = found
      return { ...page, scroll: next && sealCursor(secrets, question, { ...next, seenUntil }) }
    },
  }
}

const NOTHING = { rows: [], total: 0, isMinimum: false, searchedTo: undefined, scroll: undefined } as const

async function continued(sql: AnySql, search: Search, sort: Sort, { total, isMinimum }: Cursor): Promise<Part> {
  const part = isMinimum ? await laterPart(sql, search, sort) : { search, end: undefined }
  return { ...part, total, isMinimum }
}
