import type { Rate, Standing } from './rate.ts'
import type { Taken } from './store.ts'

/** A process takes this part of a limit at a time: one statement for that many calls. */
const PART = 50
/** Milliseconds a process goes by what was refused: whoever knocks in vain costs one statement in so long a time. */
const REFUSED_MS = 2000

/** What one process holds of an allowance that all processes share. */
export class Allowance {
  readonly #rate: Rate
  readonly #ask: (needed: number, wanted: number) => Promise<Taken>
  /** Taken out of the shared row, and not used yet. */
  #left = 0
  /** In the shared row, when it was last looked at. */
  #open = 0
  /** performance.now() at which the window has ended at the latest. */
  #ends = 0
  /** Unix seconds at which it ends. */
  #reset = 0
  /** So much was more than is left for all: it is not asked for again before performance.now() is this. */
  #tooMuch = Number.POSITIVE_INFINITY
  #askAgain = 0
  #asking: Promise<void> | undefined
  /** What callers wait for, so that one statement serves them all. */
  #waiting = 0

  constructor(rate: Rate, ask: (needed: number, wanted: number) => Promise<Taken>) {
    this.#rate = rate
    this.#ask = ask
  }

  async take(amount: number): Promise<Standing> {
    for (;;) {
      if (performance.now() >= this.#ends) this.#forget()
      if (this.#left >= amount) {
        this.#left -= amount
        return this.#standing(false)
      }
      if (amount >= this.#tooMuch && performance.now() < this.#askAgain) return this.#standing(true)
      this.#waiting += amount
      try {
        this.#asking ??= this.#refill(amount).finally(() => {
          this.#asking = undefined
        })
        await this.#asking
      } finally {
        this.#waiting -= amount
      }
    }
  }

  /** After the end of the window it was taken from there is nothing to give back to. */
  giveBack(amount: number, { reset }: Standing): void {
    if (reset === this.#reset && performance.now() < this.#ends) this.#left += amount
  }

  /** Nothing is carried into the next window. */
  #forget(): void {
    this.#left = 0
    this.#tooMuch = Number.POSITIVE_INFINITY
  }

  async #refill(amount: number): Promise<void> {
    // Before the statement: then the window ends by this clock no later than by the database's, however long the way was.
    const asked = performance.now()
    const wanted = Math.max(amount, this.#waiting, Math.floor(this.#rate.limit / PART))
    const { granted, taken, endsAt, milliseconds } = await this.#ask(amount - this.#left, wanted - this.#left)
    if (endsAt !== this.#reset) this.#forget()
    this.#left += granted
    this.#open = this.#rate.limit - taken
    this.#ends = asked + milliseconds
    this.#reset = endsAt
    this.#tooMuch = granted === 0 ? amount : Number.POSITIVE_INFINITY
    this.#askAgain = asked + REFUSED_MS
  }

  #standing(refused: boolean): Standing {
    const retryAfter = Math.max(1, Math.ceil((this.#ends - performance.now()) / 1000))
    const remaining = Math.max(0, this.#open + this.#left)
    return { rate: this.#rate, remaining, reset: this.#reset, retryAfter, refused }
  }
}
