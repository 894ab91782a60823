import { timerDelay } from '@postrider/core'
import type { Inbox } from '../inbox.ts'
import type { InboxEntry, Row } from '../inbox-entry.ts'
import type { Finder } from '../search/finder.ts'
import type { Search } from '../search/read-search.ts'
import type { Watcher, Watchers } from './watchers.ts'

/** A copy of a message for which a call waits: it matches all of this. */
export interface Wanted {
  readonly search: Search
  /** The recipient of its envelope, in lower case. */
  readonly to: string | undefined
  /** The id of a copy, or the time from which on copies are newer. */
  readonly after: string | Date | undefined
}

export interface Patience {
  readonly milliseconds: number
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal
}

/** Calls that wait at the same time: more than the tests of a machine, each of which waits for one message. */
const MAX_WAITS = 100
/** Milliseconds for reading the bodies of messages that are there already, if the search asks for them. */
const READ_MS = 2000

/** Too many calls wait already. */
export class TooManyWaits extends Error {
  constructor() {
    super(`${MAX_WAITS} calls wait for messages already; retry when one of them has ended`)
  }
}

/** Calls that wait for a message. They look at what is there once, and then only at what comes. */
export class Waits {
  readonly #inbox: Inbox
  readonly #finder: Finder
  readonly #arrivals: Watchers
  #count = 0

  constructor(inbox: Inbox, finder: Finder, arrivals: Watchers) {
    this.#inbox = inbox
    this.#finder = finder
    this.#arrivals = arrivals
  }

  /**
   * Returns the newest copy that matches, or waits for one. With `after`, returns the first one that came after it, however late the call is. Undefined if
   * none came in time, or the client has gone. Throws {@link TooManyWaits}.
   */
  async wait(wanted: Wanted, { milliseconds, signal }: Patience): Promise<InboxEntry | undefined> {
    if (this.#count >= MAX_WAITS) throw new TooManyWaits()
    this.#count++
    const late = AbortSignal.any([signal, AbortSignal.timeout(timerDelay(milliseconds))])
    let [arrived, woken] = [[] as InboxEntry[], Promise.withResolvers<void>()]
    const watcher: Watcher = (added) => {
      if (added) arrived.push(added)
      woken.resolve()
    }
    const wake = () => woken.resolve()
    late.addEventListener('abort', wake)
    this.#arrivals.add(watcher)
    try {
      let left = this.copiesAfter(wanted.after)
      for (;;) {
        const { found, unknown } = await this.#look(wanted, left)
        if (found || late.aborted) return signal.aborted ? undefined : found
        await woken.promise
        left = [...unknown, ...arrived]
        arrived = []
        woken = Promise.withResolvers()
      }
    } finally {
      late.removeEventListener('abort', wake)
      this.#arrivals.remove(watcher)
      this.#count--
    }
  }

  /** In the order in which they were listed; all without `after`. */
  copiesAfter(after: Wanted['after']): readonly InboxEntry[] {
    if (typeof after === 'string') return this.#inbox.listedAfter(after)
    const all = this.#inbox.list()
    return after ? all.filter(({ receivedAt }) => Date.parse(receivedAt) >= after.getTime()) : all
  }

  /** Looks for a match among these copies; `unknown` are those whose bodies are not read yet. */
  async #look({ search, to, after }: Wanted, copies: readonly InboxEntry[]) {
    const rows = new Map<InboxEntry, Row>()
    for (const copy of copies) {
      const row = to === undefined || copy.to.toLowerCase() === to ? this.#inbox.rowOf(copy.id) : undefined
      if (row) rows.set(copy, row)
    }
    const judged = await this.#finder.judge(search, [...new Set(rows.values())], READ_MS)
    const isMatch = (copy: InboxEntry) => judged.get(rows.get(copy) as Row)
    const known = [...rows.keys()]
    const found = after === undefined ? known.findLast(isMatch) : known.find(isMatch)
    return { found, unknown: known.filter((copy) => isMatch(copy) === undefined) }
  }
}
