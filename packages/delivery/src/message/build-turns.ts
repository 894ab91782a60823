import type { Flow } from '@postrider/core'
import { FairQueue } from '../common/fair-queue.ts'

/**
 * Messages whose building begins per iteration of the event loop. Conversations become ready together, because their records of end of data are
 * committed together. While up to 32 messages were built in one iteration, the 99th percentile of the loop's delay was 27 to 34 ms behind a
 * backlog, and all mail waited for it at each step; now it is 10 to 14 (docs/performance.md).
 */
const AT_ONCE = 2

/** Spreads the building of messages over iterations of the event loop; flows take turns. */
export class BuildTurns {
  readonly #waiting = new FairQueue<() => void>()
  /** Begun in this iteration. */
  #begun = 0

  /** Resolves when the flow's next message may be built; undefined: at once. */
  take(flow: Flow): Promise<void> | undefined {
    if (this.#begun < AT_ONCE) return this.#begin()
    return new Promise((begin) => this.#waiting.push(flow, begin))
  }

  #begin(): undefined {
    if (this.#begun === 0) setImmediate(() => this.#goOn())
    this.#begun++
  }

  #goOn(): void {
    this.#begun = 0
    for (let next = this.#next(); next; next = this.#next()) {
      this.#begin()
      next()
    }
  }

  #next(): (() => void) | undefined {
    return this.#begun < AT_ONCE ? this.#waiting.shift(() => true) : undefined
  }
}
