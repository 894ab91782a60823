import { inTurns, type SearchClock, type Stoppable } from '@postrider/core'
import type { Inbox } from '../inbox.ts'
import type { Row } from '../inbox-entry.ts'
import type { Digest } from '../reading/digest.ts'
import type { Digests } from './digests.ts'
import { matches, readSearch, type Search } from './read-search.ts'

export interface Found {
  /** The newest first. */
  readonly rows: readonly Row[]
  /** Whether there are messages of which it is not known yet whether they match. */
  readonly isReading: boolean
}

/** Milliseconds that a search waits for what is not read yet. */
const SEARCH_MS = 2000

/** Finds messages of the inbox. */
export class Finder {
  readonly #inbox: Inbox
  readonly #digests: Digests

  constructor(inbox: Inbox, digests: Digests) {
    this.#inbox = inbox
    this.#digests = digests
  }

  /** All messages for an empty query. Throws BadTerm. */
  async find(query: string, timeZone = 'UTC', milliseconds = SEARCH_MS): Promise<Found> {
    const clock: SearchClock = { now: new Date(), timeZone }
    const search = readSearch(query, clock)
    const rows = this.#inbox.rows()
    if (search.length === 0) return { rows, isReading: false }
    const judged = await this.judge(search, rows, milliseconds)
    return { rows: rows.filter((row) => judged.get(row)), isReading: [...judged.values()].includes(undefined) }
  }

  /** Whether each of these messages matches; undefined where that is not known after the time. */
  async judge(
    search: Search,
    rows: readonly Row[],
    milliseconds: number,
  ): Promise<ReadonlyMap<Row, boolean | undefined>> {
    const judged = new Map<Row, boolean | undefined>()
    await inTurns(this.#judge(search, rows, judged))
    const unknown = rows.filter((row) => judged.get(row) === undefined)
    await this.read(unknown, milliseconds)
    await inTurns(this.#judge(search, unknown, judged))
    return judged
  }

  /** Thousands of messages with many addresses take seconds, in which mail is still received. */
  *#judge(search: Search, rows: readonly Row[], judged: Map<Row, boolean | undefined>): Stoppable<void> {
    for (const row of rows) {
      judged.set(row, matches(search, { ...row, digest: this.digestOf(row), ...this.#marksOf(row) }))
      yield
    }
  }

  digestOf({ entries: [first] }: Row): Digest | undefined {
    return this.#digests.of(first)
  }

  /** Reads what lists show of these messages; returns after this time at the latest. */
  async read(rows: readonly Row[], milliseconds: number): Promise<void> {
    await this.#digests.read(
      rows.map(({ entries: [first] }) => first),
      milliseconds,
    )
  }

  #marksOf({ message }: Row) {
    const { marks } = this.#inbox
    return { isRead: marks.isRead(message), tags: marks.tagsOf(message) }
  }
}
