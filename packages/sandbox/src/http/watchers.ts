import type { InboxEntry } from '../inbox-entry.ts'

/** Called after a change, with the copy that came if one did. */
export type Watcher = (added?: InboxEntry) => void

/** Notifies open pages, and calls that wait for a message, that the inbox changed. */
export class Watchers {
  readonly #all = new Set<Watcher>()
  #changedAt = Number.NEGATIVE_INFINITY

  add(watcher: Watcher): void {
    this.#all.add(watcher)
  }

  remove(watcher: Watcher): void {
    this.#all.delete(watcher)
  }

  get count(): number {
    return this.#all.size
  }

  /** Whether the last change was at most this many milliseconds ago. */
  changedWithin(milliseconds: number): boolean {
    return performance.now() - this.#changedAt <= milliseconds
  }

  /** At most one notice per turn of the event loop is useful; pages themselves fetch at most once in 0.7 s. */
  notify(added?: InboxEntry): void {
    this.#changedAt = performance.now()
    for (const watcher of this.#all) watcher(added)
  }
}
