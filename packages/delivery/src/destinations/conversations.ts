import { type EventLoopUtilization, performance } from 'node:perf_hooks'
import { type Flow, Tally } from '@postrider/core'
import { flowKey } from '../common/fair-queue.ts'

/** Conversations at once in the beginning, and within which the limit moves. */
const LIMIT = { first: 32, least: 32, most: 10_000 } as const
/** Conversations up to which a flow starts another although the limit is reached: few of them are what others wait for. */
const FEW = 4
/** How much of its time the event loop works when more conversations at once would only make each longer; and when there is room. */
const BUSY = 0.95
const ROOM = 0.85
const ADAPT_EVERY_MS = 200
/** How many are asked to start when a conversation has ended. */
const TRIES = 8

/** Something that has conversations to start. */
interface Starter {
  start(): void
}

/**
 * How many conversations this worker has at once. As long as they mostly wait for remote servers, there is no need for a limit. When
 * the processor is the bottleneck, another one does not make the worker faster but all others slower: with 1,800 at once a message of
 * another account took four seconds. So the limit follows how busy the event loop is, and a flow with few conversations is not limited.
 */
export class Conversations {
  #limit: number = LIMIT.first
  #active = 0
  /** Conversations in progress for long. They wait for their servers. */
  #slow = 0
  readonly #ofFlow = new Tally<number>()
  /** The first {@link FEW} of each flow. */
  #few = 0
  readonly #waiting = new Set<Starter>()
  readonly #adapting: NodeJS.Timeout
  #seen: EventLoopUtilization = performance.eventLoopUtilization()

  constructor() {
    this.#adapting = setInterval(() => this.#adapt(), ADAPT_EVERY_MS).unref()
  }

  set slow(count: number) {
    this.#slow = count
    this.#startWaiting()
  }

  mayStart(flow: Flow): boolean {
    return !this.#isFull || (!this.#isFullOfFew && this.#ofFlow.of(flowKey(flow)) < FEW)
  }

  get #counted(): number {
    return this.#active - this.#slow
  }

  get #isFull(): boolean {
    return this.#counted >= this.#limit
  }

  /**
   * Whether a flow with few conversations may start none either: at twice the limit. When the limit falls, those in progress stay for some seconds,
   * and mail of others must not wait until they end: then only the few of each flow count.
   */
  get #isFullOfFew(): boolean {
    return this.#counted >= 2 * this.#limit && this.#few - this.#slow >= this.#limit
  }

  enter(flow: Flow): void {
    this.#active++
    if (this.#ofFlow.add(flowKey(flow), 1) <= FEW) this.#few++
  }

  /** Another conversation may start: at the destination that has waited longest. */
  leave(flow: Flow): void {
    this.#active--
    if (this.#ofFlow.add(flowKey(flow), -1) < FEW) this.#few--
    this.#startWaiting()
  }

  /** Calls `start` of this one when a conversation may start. */
  wait(starter: Starter): void {
    this.#waiting.add(starter)
  }

  close(): void {
    clearInterval(this.#adapting)
  }

  #startWaiting(): void {
    // Beyond the limit, too, because a flow with few conversations may start even then. Those that may not start come last again.
    for (let tries = Math.min(this.#waiting.size, TRIES); tries > 0; tries--) {
      if (this.#isFullOfFew) return
      const [next] = this.#waiting
      if (!next) return
      this.#waiting.delete(next)
      next.start()
    }
  }

  #adapt(): void {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, this.#seen)
    this.#seen = now
    if (utilization > BUSY) this.#limit = Math.max(LIMIT.least, Math.floor(Math.min(this.#limit, this.#counted) * 0.8))
    else if (utilization < ROOM && this.#waiting.size > 0) {
      this.#limit = Math.min(LIMIT.most, Math.ceil(this.#limit * 1.25))
      this.#startWaiting()
    }
  }
}
