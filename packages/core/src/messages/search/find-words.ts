import { longWork } from '../../platform/concurrency/turns.ts'
import type { AnySql } from '../../platform/database/database.ts'
import { hasConditions } from '../queries/list-conditions.ts'
import {
  driverOf,
  floorOf,
  keepMeeting,
  type ListFilter,
  selectPositions,
  type Window,
} from '../queries/list-positions.ts'
import { entryOf, hasAll, type Terms } from './entry.ts'
import { selectProgress } from './fill-blocks.ts'
import { blockFloor, findInBlocks, type Position } from './find-blocks.ts'
import { type DeliveryRow, deliveriesWithTexts, textColumns } from './texts.ts'

/** Deliveries whose texts are read one by one, at a time and at most: about 10 µs each. */
const WALKS = [1000, 4000, 5000] as const
const CHUNK = 1000
/** Blocks whose filters are asked by one statement. */
const ASKED = [1000, 10_000] as const
/** Blocks whose texts are read by one statement: few at first, since the words of most searches are in most blocks. */
const READ = [4, 16, 32] as const
/** Deliveries of blocks whose texts are read for a page. */
const MAX_READ = 150_000
/** Milliseconds after which no further statement is begun. */
const MAX_MS = 180

export interface FoundWords {
  readonly positions: readonly Position[]
  /** The position at which the search was stopped; undefined if it is complete. */
  readonly searchedTo: Position | undefined
}

/** Above every recipient number. */
const LAST_NUMBER = 1_000_000

/** Finds deliveries by the words in their texts: in blocks, and those that are in no block yet one by one. */
export async function findByWords(sql: AnySql, filter: ListFilter, whole: Window, limit: number): Promise<FoundWords> {
  const search = new WordSearch(sql, filter, limit)
  const driver = driverOf(filter)
  if (driver === 'person' || driver === 'flight') return search.among(driver, whole)
  if (filter.accountId === undefined || filter.messageId !== undefined) return search.walk(whole)
  const upTo = await selectProgress(sql)
  const { from, after } = whole
  // The text of an id has the order of its bytes.
  const isBeyond = upTo > from
  if (after.messageId > upTo) {
    const recent = await search.walk({ from: isBeyond ? upTo : from, after }, upTo)
    if (recent.searchedTo || recent.positions.length >= limit || upTo < from) return recent
  }
  const start = after.messageId > upTo ? { messageId: upTo, recipientNo: LAST_NUMBER } : after
  return search.inBlocks(filter.accountId, { from, after: start })
}

class WordSearch {
  readonly #sql: AnySql
  readonly #filter: ListFilter
  readonly #limit: number
  readonly #found: Position[] = []
  readonly #began = performance.now()

  constructor(sql: AnySql, filter: ListFilter, limit: number) {
    this.#sql = sql
    this.#filter = filter
    this.#limit = limit
  }

  get #isFull(): boolean {
    return this.#found.length >= this.#limit
  }

  #result(searchedTo: Position | undefined): FoundWords {
    return this.#isFull
      ? { positions: this.#found.slice(0, this.#limit), searchedTo: undefined }
      : { positions: this.#found, searchedTo }
  }

  /** Of few deliveries, all. */
  async among(driver: 'person' | 'flight', whole: Window): Promise<FoundWords> {
    const { searchedTo } = await this.#chunks(
      driver,
      whole,
      WALKS.reduce((sum, one) => sum + one, 0),
    )
    return this.#result(searchedTo)
  }

  /** The messages down to `window.from`; without `upTo` itself. */
  async walk(window: Window, upTo?: string): Promise<FoundWords> {
    let { after } = window
    for (const size of WALKS) {
      const floor = await floorOf(this.#sql, 'messages', this.#filter, { ...window, after }, size)
      const part = await this.#chunks('messages', { from: floor ?? window.from, after }, 2 * size, upTo)
      if (this.#isFull) return this.#result(undefined)
      if (part.searchedTo) return this.#result(part.searchedTo)
      if (floor === undefined) return this.#result(undefined)
      after = { messageId: floor, recipientNo: 0 }
    }
    return this.#result(after)
  }

  /** All deliveries of a window, some at a time. */
  async #chunks(
    driver: 'person' | 'flight' | 'messages',
    window: Window,
    most: number,
    upTo?: string,
  ): Promise<{ readonly searchedTo: Position | undefined }> {
    let { after } = window
    for (let read = 0; read < most; read += CHUNK) {
      const positions = await selectPositions(this.#sql, driver, this.#filter, { ...window, after }, CHUNK)
      const fresh = upTo === undefined ? positions : positions.filter(({ messageId }) => messageId > upTo)
      this.#found.push(...(await keepWithWords(this.#sql, fresh, this.#filter)))
      const last = positions.at(-1)
      if (this.#isFull || !last || positions.length < CHUNK) return { searchedTo: undefined }
      after = last
    }
    return { searchedTo: after }
  }

  /** The blocks of an account: first their filters, then the texts of those that may have the words. */
  async inBlocks(accountId: number, whole: Window): Promise<FoundWords> {
    let { after } = whole
    let deliveries = 0
    for (let part = 0; ; part++) {
      const range = { accountId, from: whole.from }
      const floor = await blockFloor(this.#sql, { ...range, after }, ASKED[part] ?? ASKED[1])
      for (let read = 0, next: Position | undefined = after; next; read++) {
        after = next
        const count = READ[Math.min(read, READ.length - 1)] ?? 1
        const page = await findInBlocks(this.#sql, { ...range, after, floor }, this.#filter, count)
        const { positions } = page
        const kept = hasConditions(this.#filter) ? await keepMeeting(this.#sql, this.#filter, positions) : positions
        this.#found.push(...kept)
        if (this.#isFull) return this.#result(undefined)
        next = page.next
        deliveries += page.deliveries
        if (next && (deliveries >= MAX_READ || this.#isLate())) return this.#result(next)
      }
      if (floor === undefined) return this.#result(undefined)
      after = floor
      if (this.#isLate()) return this.#result(after)
    }
  }

  #isLate(): boolean {
    return performance.now() - this.#began > MAX_MS
  }
}

/** Returns those of some positions whose texts have the words. */
async function keepWithWords(sql: AnySql, positions: readonly Position[], terms: Terms): Promise<Position[]> {
  if (positions.length === 0) return []
  const rows = await sql<DeliveryRow[]>`
    select ${textColumns(sql)}
      from unnest(${positions.map(({ messageId }) => messageId)}::uuid[], ${positions.map(({ recipientNo }) => recipientNo)}::int[])
           with ordinality as w(id, no, at)
     cross join lateral (select * from messages where id = w.id offset 0) m
     cross join lateral (${deliveriesWithTexts(sql, sql`and recipient_no = w.no`)} limit 1) d
     order by w.at`
  const kept: Position[] = []
  const work = longWork()
  for (const row of rows) {
    if (hasAll(entryOf(row), terms)) kept.push({ messageId: row.id, recipientNo: row.no })
    const pause = work.pause()
    if (pause) await pause
  }
  return kept
}
