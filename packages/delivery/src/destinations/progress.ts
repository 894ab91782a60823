/** Milliseconds without the end of a conversation after which a destination is stalled: its waiting deliveries return to the database. */
const STALL_MS = 5000

/** A conversation in progress. */
export interface Running {
  /** performance.now() at its start. */
  readonly at: number
}

/** The conversations of a destination that are in progress. */
export class Progress {
  readonly #running = new Set<Running>()
  /** performance.now() at the end of the last conversation, or at the start of the first one in progress. */
  #at = 0

  get count(): number {
    return this.#running.size
  }

  /** Conversations are in progress, and none has ended for some time. */
  get isStalled(): boolean {
    return this.#running.size > 0 && performance.now() - this.#at > STALL_MS
  }

  /** Number of conversations in progress for longer than usual. */
  get slow(): number {
    const now = performance.now()
    let count = 0
    for (const { at } of this.#running) if (now - at > STALL_MS) count++
    return count
  }

  begin(): Running {
    const running = { at: performance.now() }
    if (this.#running.size === 0) this.#at = running.at
    this.#running.add(running)
    return running
  }

  end(running: Running): void {
    this.#running.delete(running)
    this.#at = performance.now()
  }
}
