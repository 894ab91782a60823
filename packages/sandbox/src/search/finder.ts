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
    const judged = await inTurns(this.#judge(search, rows))
    const unknown = rows.filter((_, at) => judged[at] === undefined)
    await this.read(unknown, milliseconds)
    const later = await inTurns(this.#judge(search, unknown))
    const again = new Map(unknown.map((row, at) => [row, later[at]]))
    const results = rows.map((row, at) => (again.has(row) ? again.get(row) : judged[at]))
    return { rows: rows.filter((_, at) => results[at] === true), isReading: results.includes(undefined) }
  }

  /** Thousands of messages with many addresses take seconds, in which mail is still received. */
  *#judge(search: Search, rows: readonly Row[]): Stoppable<(boolean | undefined)[]> {
    const results: (boolean | undefined)[] = []
    for (const row of rows) {
      results.push(matches(search, { ...row, digest: this.digestOf(row), ...this.#marksOf(row) }))
      yield
    }
    return results
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
