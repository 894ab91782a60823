/** Milliseconds between two looks. */
const EVERY_MS = 1000
/** Keys of one look: 1 ms for the database. */
const MOST = 500

/** Answers which of these there are. */
export type Look = (keys: readonly string[]) => Promise<ReadonlySet<string>>

interface Waiting extends PromiseWithResolvers<boolean | undefined> {
  readonly key: string
}

/**
 * Looks for many keys with one statement a second. Where more come than it takes, each has the same chance to be drawn, so that
 * whoever comes again gets in, however many others come. Those that are not drawn do not wait.
 */
export class SharedLook {
  readonly #look: Look
  readonly #every: number
  readonly #most: number
  #waiting: Waiting[] = []
  /** Since the last look. */
  #came = 0
  #next = Number.NEGATIVE_INFINITY

  constructor(look: Look, { every = EVERY_MS, most = MOST } = {}) {
    this.#look = look
    this.#every = every
    this.#most = most
  }

  /** Is there such a key? Undefined: others were drawn. */
  async has(key: string): Promise<boolean | undefined> {
    const number = this.#came++
    if (number === 0) setTimeout(() => void this.#lookNow(), Math.max(0, this.#next - performance.now()))
    // Algorithm R: the nth to come is drawn with a chance of most / n, and takes the place of any other.
    const place = number < this.#most ? number : Math.floor(Math.random() * this.#came)
    if (place >= this.#most) return undefined
    this.#waiting[place]?.resolve(undefined)
    const waiting = { key, ...Promise.withResolvers<boolean | undefined>() }
    this.#waiting[place] = waiting
    return waiting.promise
  }

  async #lookNow(): Promise<void> {
    const batch = this.#waiting
    this.#waiting = []
    this.#came = 0
    this.#next = performance.now() + this.#every
    try {
      const there = await this.#look(batch.map(({ key }) => key))
      for (const { key, resolve } of batch) resolve(there.has(key))
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
}
