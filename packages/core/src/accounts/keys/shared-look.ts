import { timerDelay } from '../../platform/concurrency/timer-delay.ts'

/** Milliseconds between two lookups. */
const INTERVAL_MS = 1000
/** Maximum keys per lookup, which takes the database 1 ms. */
const MAX_KEYS = 500

/** Returns those of the keys that exist. */
export type Look = (keys: readonly string[]) => Promise<ReadonlySet<string>>

interface Waiting extends PromiseWithResolvers<boolean | undefined> {
  readonly key: string
}

/**
 * Looks up many keys with one statement per second. If more keys arrive than one statement takes, each has the same
 * chance to be drawn, so a client that retries succeeds eventually, however many others there are. Keys that are not
 * drawn do not wait.
 */
export class SharedLook {
  readonly #look: Look
  readonly #every: number
  readonly #most: number
  #waiting: Waiting[] = []
  /** Keys since the last lookup. */
  #arrived = 0
  #nextLookup = Number.NEGATIVE_INFINITY

  constructor(look: Look, { every = INTERVAL_MS, most = MAX_KEYS } = {}) {
    this.#look = look
    this.#every = every
    this.#most = most
  }

  /** Whether the key exists; undefined if it was not drawn. */
  async has(key: string): Promise<boolean | undefined> {
    const number = this.#arrived++
    if (number === 0) setTimeout(() => void this.#runLookup(), timerDelay(this.#nextLookup - performance.now()))
    // Reservoir sampling (algorithm R): the nth key is drawn with probability most / n and replaces a random one.
    const index = number < this.#most ? number : Math.floor(Math.random() * this.#arrived)
    if (index >= this.#most) return undefined
    this.#waiting[index]?.resolve(undefined)
    const waiting = { key, ...Promise.withResolvers<boolean | undefined>() }
    this.#waiting[index] = waiting
    return waiting.promise
  }

  async #runLookup(): Promise<void> {
    const batch = this.#waiting
    this.#waiting = []
    this.#arrived = 0
    this.#nextLookup = performance.now() + this.#every
    try {
      const existing = await this.#look(batch.map(({ key }) => key))
      for (const { key, resolve } of batch) resolve(existing.has(key))
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
}
