/** Successful conversations after which a destination that rejected some is given one more connection. */
const GROW_AFTER = 10
/** Conversations at once while most messages are refused for their sender, and it is not yet known whether all are: each costs one. */
const SUSPECT_CONVERSATIONS = 2

/** How many conversations of this worker at once a destination currently accepts. */
export class AcceptedConversations {
  #most: number
  #successes = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Those within a limit. */
  within(limit: number, isSuspect: boolean): number {
    return Math.min(this.#most, limit, isSuspect ? SUSPECT_CONVERSATIONS : Number.POSITIVE_INFINITY)
  }

  /** The limit of connections was raised. */
  reset(most: number): void {
    this.#most = most
  }

  /** One has begun. Returns whether one more is accepted now. */
  succeeded(limit: number): boolean {
    if (this.#most >= limit || ++this.#successes < GROW_AFTER) return false
    this.#successes = 0
    this.#most++
    return true
  }

  /** One has not begun; `others`: those in progress next to it, if it was one too many. */
  failed(others: number | undefined): void {
    this.#successes = 0
    if (others !== undefined) this.#most = Math.max(1, Math.min(this.#most, others))
  }
}
