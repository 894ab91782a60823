import type { AnySql } from '../../platform/database/database.ts'
import type { Place } from './cursor.ts'
import type { Filter } from './query.ts'
import { countMatches, countScanned, driverOf, type Search, type Sort, selectEnd } from './store.ts'

/**
 * Maximum number of deliveries that one page scans, which limits it to about 150 ms of processor time. `messages`: entries of the
 * index of an account's messages (0.1 µs each). `notable`: entries of the indexes of notable events (0.5 µs each). `deliveries`:
 * messages with their deliveries (3 µs each); one day of an account with five million messages in 12 weeks must be within the limit.
 * `eventLookups`: deliveries with a lookup of their events in every week since (about 100 µs each).
 */
const MAX_SCANNED = { messages: 1_000_000, notable: 250_000, deliveries: 60_000, eventLookups: 2000 }

/** The last recipient in either order. */
const LAST_RECIPIENT = { asc: 2 ** 31 - 1, desc: 0 }

/** The part of a search that one page makes: all that is left of the date range, or as much as is scanned in one call. */
export interface Part {
  readonly search: Search
  /** Where the next page begins if this one is not filled before; undefined if the part is all that is left. */
  readonly end: Place | undefined
  /** Number of matches. */
  readonly total: number
  /** Whether there may be more: some are in later parts, or there are too many to count. */
  readonly isMinimum: boolean
}

/** Returns the first part of a search. */
export async function firstPart(sql: AnySql, search: Search, sort: Sort): Promise<Part> {
  const kind = kindOf(search)
  if (kind === 'message') return { search, end: undefined, total: await countMatches(sql, search), isMinimum: false }
  if (kind === 'messages' || kind === 'notable') {
    // Every entry is a match, and a page reads no more of them than it shows.
    const { entries, deliveries } = await countScanned(sql, search, MAX_SCANNED[kind])
    return { search, end: undefined, total: deliveries, isMinimum: entries > MAX_SCANNED[kind] }
  }
  const part = await partOf(sql, search, sort)
  return { ...part, total: await countMatches(sql, part.search), isMinimum: part.end !== undefined }
}

/** Returns the part of a later page of a search that has several. */
export async function laterPart(sql: AnySql, search: Search, sort: Sort): Promise<Pick<Part, 'search' | 'end'>> {
  const kind = kindOf(search)
  return kind === 'deliveries' || kind === 'eventLookups' ? partOf(sql, search, sort) : { search, end: undefined }
}

async function partOf(sql: AnySql, search: Search, sort: Sort): Promise<Pick<Part, 'search' | 'end'>> {
  const limit = MAX_SCANNED[kindOf(search) === 'eventLookups' ? 'eventLookups' : 'deliveries']
  const { entries, deliveries } = await countScanned(sql, search, MAX_SCANNED.deliveries)
  if (Math.max(entries, deliveries) <= limit) return { search, end: undefined }
  const scanned = { ...search, isFrequent: driverOf(search) === 'recipient' && entries > MAX_SCANNED.deliveries }
  const messageId = await selectEnd(sql, scanned, sort, limit)
  const end = messageId === undefined ? undefined : { messageId, recipientNo: LAST_RECIPIENT[sort] }
  if (!end) return { search: scanned, end }
  const rest = { ...scanned, span: spanAfter(search.span, sort, end) }
  if ((await countScanned(sql, rest, 0)).entries === 0) return { search: scanned, end: undefined }
  const { from, to } = search.span
  const span = sort === 'asc' ? { from, to: rest.span.from } : { from: rest.span.to, to }
  return { search: { ...scanned, span }, end }
}

/** Returns what is left of a date range after a position: also of its message, unless that was its last recipient. */
export function spanAfter({ from, to }: Search['span'], sort: Sort, { messageId, recipientNo }: Place): Search['span'] {
  const isWhole = recipientNo === LAST_RECIPIENT[sort]
  return sort === 'asc'
    ? { from: isWhole ? idAfter(messageId) : messageId, to }
    : { from, to: isWhole ? messageId : idAfter(messageId) }
}

/** Returns the smallest id after this one. */
export function idAfter(id: string): string {
  const next = (BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0')
  return next.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Returns what a search scans. Every scanned message or notable event is a match. */
function kindOf(search: Search): keyof typeof MAX_SCANNED | 'message' {
  const { filter } = search
  if (filter.messageId !== undefined) return 'message'
  if (isUnfiltered(filter)) return 'messages'
  if (isIndexOnly(filter)) return 'notable'
  const { events } = filter
  const looksUpEvents = events !== undefined && (events.types.length > 0 || events.bounces !== undefined)
  return looksUpEvents && driverOf(search) !== 'notable' ? 'eventLookups' : 'deliveries'
}

/** Whether there is no filter at all. */
function isUnfiltered({ nothing: _, ...filter }: Filter): boolean {
  return Object.values(filter).every((value) => value === undefined)
}

/** Whether the indexes of notable events determine all matches, so that nothing else has to be scanned. */
function isIndexOnly({ nothing: _, events, ...filter }: Filter): boolean {
  return events !== undefined && !events.sent && Object.values(filter).every((value) => value === undefined)
}
