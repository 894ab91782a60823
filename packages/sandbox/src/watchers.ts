/** Notifies open pages that the inbox changed. */
export class Watchers {
  readonly #all = new Set<() => void>()

  add(watcher: () => void): void {
    this.#all.add(watcher)
  }

  remove(watcher: () => void): void {
    this.#all.delete(watcher)
  }

  get count(): number {
    return this.#all.size
  }

  /** At most one notice per turn of the event loop is useful; pages themselves fetch at most once in 0.7 s. */
  notify(): void {
    for (const watcher of this.#all) watcher()
  }
}
