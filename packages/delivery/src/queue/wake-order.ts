import type { Flow } from '@postrider/core'
import { flowKey } from '../common/fair-queue.ts'

/**
 * After how many milliseconds the first workers look for new mail, in their order; the others find it when they look for all due mail, every
 * second. The first one usually takes it at once. The others are for mail that it does not take: it may be full, busy, hung or dead.
 */
const DELAYS_MS = [0, 50, 100, 200, 400] as const

/** Knuth's multiplicative hash: workers of one host, which start together, do not come one after another, and flows have different first ones. */
const MULTIPLIER = 2_654_435_761

/**
 * The order in which workers look for new mail. Without it, each message would wake all idle workers: 13 claims per message with 20 of them.
 * Every worker computes the same order from the flow, the turn and the workers that are alive. The second worker of a turn is the first
 * of the next one, so while mail keeps coming, the workers that look later look anyway.
 */
export class WakeOrder {
  readonly #own: number
  readonly #workers: () => readonly number[]

  constructor(own: number, workers: () => readonly number[]) {
    this.#own = own
    this.#workers = workers
  }

  /** After how many milliseconds this worker looks for new mail of a flow; undefined if it leaves it to others. */
  delayOf(flow: Flow, turn: number): number | undefined {
    const workers = this.#workers().toSorted((a, b) => hash(a) - hash(b))
    const own = workers.indexOf(this.#own)
    // It does not know the others yet, or lost sight of them.
    if (own === -1) return 0
    const first = (hash(flowKey(flow)) + turn) % workers.length
    return DELAYS_MS[(own - first + workers.length) % workers.length]
  }
}

function hash(key: number): number {
  return Math.imul(key, MULTIPLIER) >>> 0
}
