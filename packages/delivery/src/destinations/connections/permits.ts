import type { Slots } from './slots.ts'

/** Milliseconds after a connection was closed in which its permit is not used: the server may see the next one before it notices. */
const CLOSING_MS = 20
/** Milliseconds that an unused permit is kept. */
const UNUSED_MS = 1000
/** Milliseconds until the next request, if there were too few slots. */
const ASK_AGAIN_MS = 500

export interface PermitsOptions {
  readonly destination: string
  readonly slots: Slots
  /** Called when there are permits, or when it is known that there are none. */
  readonly onAnswer: () => void
}

interface Unused {
  readonly no: number
  readonly since: number
}

/** The permits of this worker for connections to one destination: each is a connection slot in the database. */
export class Permits {
  readonly #options: PermitsOptions
  #free: Unused[] = []
  /** Number of permits, free or in use. */
  #held = 0
  #asking = false
  #refusedAt = Number.NEGATIVE_INFINITY

  constructor(options: PermitsOptions) {
    this.#options = options
  }

  get held(): number {
    return this.#held
  }

  /** A request for slots is under way, so this worker may get some. */
  get isAsking(): boolean {
    return this.#asking
  }

  get free(): number {
    return this.#free.length
  }

  get inUse(): number {
    return this.#held - this.#free.length
  }

  /** Other workers have all connections that the destination allows, as far as this one knows. */
  get isExhausted(): boolean {
    return this.#held === 0 && performance.now() - this.#refusedAt < ASK_AGAIN_MS
  }

  take(): number | undefined {
    return this.#free.pop()?.no
  }

  /** The connection of this permit is closed, or was never opened. */
  give(no: number): void {
    setTimeout(() => {
      this.#free.push({ no, since: performance.now() })
      this.#options.onAnswer()
    }, CLOSING_MS)
  }

  /** The same for one that the destination did not take: it is no longer this worker's. */
  giveUp(no: number): void {
    this.#held--
    const { slots, destination, onAnswer } = this.#options
    slots.free({ place: destination, no })
    this.#refusedAt = performance.now()
    onAnswer()
  }

  /** Asks for more permits, so that there are `wanted` free ones, and no more than `limit` in all. */
  ask(wanted: number, limit: number): void {
    const count = Math.min(wanted - this.#free.length, limit - this.#held)
    if (count <= 0 || this.#asking || performance.now() - this.#refusedAt < ASK_AGAIN_MS) return
    this.#asking = true
    const { slots, destination, onAnswer } = this.#options
    slots
      .take({ place: destination, limit, count })
      .then(
        (taken) => {
          const since = performance.now()
          this.#held += taken.length
          for (const no of taken) this.#free.push({ no, since })
          if (taken.length < count) this.#refusedAt = since
        },
        // The database is away, so nothing can be delivered either.
        () => {
          this.#refusedAt = performance.now()
        },
      )
      .finally(() => {
        this.#asking = false
        onAnswer()
      })
  }

  /** Frees permits that were not used for some time, and those beyond a limit that was lowered. */
  freeUnused(limit: number): void {
    const oldest = performance.now() - UNUSED_MS
    const { slots, destination } = this.#options
    const kept: Unused[] = []
    for (const permit of this.#free) {
      if (permit.since > oldest && this.#held <= limit) kept.push(permit)
      else {
        this.#held--
        slots.free({ place: destination, no: permit.no })
      }
    }
    this.#free = kept
  }
}
