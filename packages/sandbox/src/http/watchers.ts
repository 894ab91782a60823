/** Notifies open pages that the inbox changed. */
export class Watchers {
  readonly #all = new Set<() => void>()
  #changedAt = Number.NEGATIVE_INFINITY

  add(watcher: () => void): void {
    this.#all.add(watcher)
  }

  remove(watcher: () => void): void {
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
  notify(): void {
    this.#changedAt = performance.now()
    for (const watcher of this.#all) watcher()
  }
}
