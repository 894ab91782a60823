import type { Rate, RateLimitStatus } from './rate.ts'
import type { Taken } from './store.ts'

/** Fraction of a limit that a process takes at a time (1/50), so that one statement serves many calls. */
const FRACTION = 50
/** Milliseconds for which a rejection is remembered: repeated attempts cost one statement per interval. */
const REJECTION_MS = 2000

/** The part of a shared quota that this process has taken. */
export class Quota {
  readonly #rate: Rate
  readonly #request: (needed: number, wanted: number) => Promise<Taken>
  /** Taken from the shared row and not used yet. */
  #left = 0
  /** Left in the shared row at the last query. */
  #remaining = 0
  /** performance.now() at which the window has ended at the latest. */
  #ends = 0
  /** End of the window in Unix seconds. */
  #reset = 0
  /** Amount that exceeded the shared quota; not requested again before performance.now() reaches retryAt. */
  #rejectedAmount = Number.POSITIVE_INFINITY
  #retryAt = 0
  #refilling: Promise<void> | undefined
  /** Total amount that callers wait for, so that one statement serves them all. */
  #waiting = 0

  constructor(rate: Rate, request: (needed: number, wanted: number) => Promise<Taken>) {
    this.#rate = rate
    this.#request = request
  }

  async take(amount: number): Promise<RateLimitStatus> {
    for (;;) {
      if (performance.now() >= this.#ends) this.#clear()
      if (this.#left >= amount) {
        this.#left -= amount
        return this.#status(false)
      }
      if (amount >= this.#rejectedAmount && performance.now() < this.#retryAt) return this.#status(true)
      this.#waiting += amount
      try {
        this.#refilling ??= this.#refill(amount).finally(() => {
          this.#refilling = undefined
        })
        await this.#refilling
      } finally {
        this.#waiting -= amount
      }
    }
  }

  /** Returns an unused amount. Without effect after the end of its window. */
  release(amount: number, { reset }: RateLimitStatus): void {
    if (reset === this.#reset && performance.now() < this.#ends) this.#left += amount
  }

  /** Resets the state for a new window; nothing is carried over. */
  #clear(): void {
    this.#left = 0
    this.#rejectedAmount = Number.POSITIVE_INFINITY
  }

  async #refill(amount: number): Promise<void> {
    // Read before the statement, so that by this clock the window ends no later than by the database's, however long
    // the statement takes.
    const requestedAt = performance.now()
    const wanted = Math.max(amount, this.#waiting, Math.floor(this.#rate.limit / FRACTION))
    const { granted, taken, endsAt, milliseconds } = await this.#request(amount - this.#left, wanted - this.#left)
    if (endsAt !== this.#reset) this.#clear()
    this.#left += granted
    this.#remaining = this.#rate.limit - taken
    this.#ends = requestedAt + milliseconds
    this.#reset = endsAt
    this.#rejectedAmount = granted === 0 ? amount : Number.POSITIVE_INFINITY
    this.#retryAt = requestedAt + REJECTION_MS
  }

  #status(refused: boolean): RateLimitStatus {
    const retryAfter = Math.max(1, Math.ceil((this.#ends - performance.now()) / 1000))
    const remaining = Math.max(0, this.#remaining + this.#left)
    return { rate: this.#rate, remaining, reset: this.#reset, retryAfter, refused }
  }
}
