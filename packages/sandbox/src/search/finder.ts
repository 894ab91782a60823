import type { SearchClock } from '@postrider/core'
import type { Inbox } from '../inbox.ts'
import type { Row } from '../inbox-entry.ts'
import type { Digest } from '../reading/digest.ts'
import type { Digests } from './digests.ts'
import { matches, readSearch } from './read-search.ts'

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
    const judge = (row: Row) => matches(search, { ...row, digest: this.digestOf(row), ...this.#marksOf(row) })
    const unknown = rows.filter((row) => judge(row) === undefined)
    await this.#digests.read(
      unknown.map(({ entries: [first] }) => first),
      milliseconds,
    )
    const judged = rows.map((row) => ({ row, result: judge(row) }))
    return {
      rows: judged.filter(({ result }) => result === true).map(({ row }) => row),
      isReading: judged.some(({ result }) => result === undefined),
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
