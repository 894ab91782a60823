import type { Core } from '@postrider/core'
import type { Dispatcher } from './dispatcher.ts'

/** Maximum number of deliveries per claim. */
export const BATCH = 200
/** Milliseconds between claims that start at the head of the queue, for deliveries that became visible before the cursor. */
const HEAD_EVERY_MS = 3000
/** Milliseconds by which the cursor lags the last claim: accepts commit shortly after the time their deliveries are due. */
const CURSOR_LAG_MS = 1000

export interface DueClaimsOptions {
  readonly core: Core
  readonly workerId: number
  readonly dispatcher: Dispatcher
  /** Called when the database has responded to a claim. */
  readonly onAnswer: () => void
}

/** Claims the due deliveries of all sites that have capacity. Reads the queue from a cursor, and regularly from its head. */
export class DueClaims {
  readonly #options: DueClaimsOptions
  #cursor: number | undefined
  #headAt = 0
  #lackedCapacity = false

  constructor(options: DueClaimsOptions) {
    this.#options = options
  }

  /** Whether the last call of {@link claim} claimed nothing because the dispatcher had too little capacity. */
  get lackedCapacity(): boolean {
    return this.#lackedCapacity
  }

  /** Returns the number of claimed deliveries. */
  async claim(): Promise<number> {
    const { core, workerId, dispatcher, onAnswer } = this.#options
    const { capacity } = dispatcher
    // A few free slots are not worth a claim: more are freed shortly.
    this.#lackedCapacity = capacity < BATCH / 4
    if (this.#lackedCapacity) return 0
    const claimed = await core.deliveries.claim({
      workerId,
      limit: Math.min(capacity, BATCH),
      dueFrom: this.#dueFrom(),
      exceptDomains: dispatcher.fullDomains(),
    })
    onAnswer()
    const latest = claimed.reduce((most, { dueAt }) => Math.max(most, dueAt), 0)
    if (latest > 0) this.#cursor = Math.max(this.#cursor ?? 0, latest - CURSOR_LAG_MS)
    if (claimed.length > 0) await dispatcher.take(claimed)
    return claimed.length
  }

  /** Where the claim begins; the head of the queue if undefined. */
  #dueFrom(): number | undefined {
    const now = performance.now()
    if (this.#cursor !== undefined && now - this.#headAt < HEAD_EVERY_MS) return this.#cursor
    this.#headAt = now
    return undefined
  }
}
