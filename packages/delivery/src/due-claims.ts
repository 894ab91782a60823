import { type Core, type Flow, type FlowShare, URGENT } from '@postrider/core'
import type { Dispatcher } from './dispatcher.ts'
import { flowKey, WEIGHTS } from './fair-queue.ts'

/** Maximum number of deliveries per claim. */
export const BATCH = 200
/** Flows per claim. Each is an index range. */
const FLOWS = 32
/** Milliseconds after which the queue is read even without a notification. */
export const POLL_MS = 1000
/** Milliseconds between claims of a flow that start at its head, for deliveries that became visible before the cursor. */
const HEAD_EVERY_MS = 3000
/** Milliseconds by which the cursor lags the last claim: accepts commit shortly after the time their deliveries are due. */
const CURSOR_LAG_MS = 1000
/** Flows beyond which those that had no due mail when they were claimed last are forgotten, with their cursors. */
const FLOWS_KEPT = 10_000
/** Looking for flows with due mail takes no more than this part of the time. */
const LOOKING_SHARE = 0.05

export interface DueClaimsOptions {
  readonly core: Core
  readonly workerId: number
  readonly dispatcher: Dispatcher
  /** Called when the database has responded to a claim. */
  readonly onAnswer: () => void
}

interface KnownFlow {
  readonly flow: Flow
  /** How much of it was claimed, divided by its weight. The flow with the least is next. */
  served: number
  cursor?: number
  headAt: number
}

/**
 * Claims due deliveries of all flows: the capacity is shared between those that have due mail, so that a million deliveries of one
 * account do not delay the mail of others. A notification says which flows have new mail; retries and scheduled mail are looked for. A flow is
 * read from a cursor, and regularly from its head.
 */
export class DueClaims {
  readonly #options: DueClaimsOptions
  /** In the order in which they were seen last. */
  readonly #known = new Map<number, KnownFlow>()
  /** Those that may have due mail. */
  readonly #due = new Map<number, KnownFlow>()
  #lackedCapacity = false
  /** The last look for due flows ended then, and took so long. */
  #looked = { at: Number.NEGATIVE_INFINITY, milliseconds: 0 }

  constructor(options: DueClaimsOptions) {
    this.#options = options
  }

  /** Whether the last call of {@link claim} left due mail because the dispatcher had too little capacity. */
  get lackedCapacity(): boolean {
    return this.#lackedCapacity
  }

  /** These flows may have due mail. */
  know(flows: readonly Flow[]): void {
    let least = Number.POSITIVE_INFINITY
    for (const { served } of this.#due.values()) least = Math.min(least, served)
    for (const flow of flows) {
      const key = flowKey(flow)
      if (this.#due.has(key)) continue
      const known = this.#known.get(key) ?? newFlow(flow)
      // Mail that it did not have earlier gives it no right to more than the others now.
      if (this.#due.size > 0) known.served = Math.max(known.served, least)
      this.#due.set(key, known)
      this.#known.delete(key)
      this.#known.set(key, known)
    }
    for (const key of this.#known.keys()) {
      if (this.#known.size <= FLOWS_KEPT) break
      if (!this.#due.has(key)) this.#known.delete(key)
    }
  }

  /** Whether flows may have due mail that the next claim takes. */
  get hasMore(): boolean {
    return !this.#lackedCapacity && this.#due.size > 0
  }

  /** Looks for all flows with due mail, once a second, or if `now`, before that. */
  async look(now: boolean): Promise<void> {
    const began = performance.now()
    const pause = Math.max(now ? 0 : POLL_MS, this.#looked.milliseconds / LOOKING_SHARE)
    if (began < this.#looked.at + pause) return
    const flows = await this.#options.core.deliveries.dueFlows()
    this.#options.onAnswer()
    this.know(flows)
    this.#looked = { at: performance.now(), milliseconds: performance.now() - began }
  }

  /** Returns the number of claimed deliveries. */
  async claim(): Promise<number> {
    const { core, workerId, dispatcher, onAnswer } = this.#options
    const shares = this.#shares()
    if (shares.length === 0) return 0
    // New mail of a flow may be announced while the claim is under way.
    for (const share of shares) this.#due.delete(flowKey(share))
    const claimed = await core.deliveries.claim({ workerId, shares }).catch((error: unknown) => {
      this.know(shares)
      throw error
    })
    onAnswer()
    const counts = new Map<number, number>()
    // A claim from the head may find much that is older than the cursor: the next one goes on from there.
    for (const share of shares) if (share.dueFrom === undefined) delete this.#of(share).cursor
    for (const delivery of claimed) {
      const known = this.#of(delivery)
      known.cursor = Math.max(known.cursor ?? 0, delivery.dueAt - CURSOR_LAG_MS)
      known.served += 1 / WEIGHTS[delivery.class]
      counts.set(flowKey(delivery), (counts.get(flowKey(delivery)) ?? 0) + 1)
    }
    this.know(shares.filter((share) => counts.get(flowKey(share)) === share.limit))
    if (claimed.length > 0) await dispatcher.take(claimed)
    return claimed.length
  }

  /** Shares of the capacity: by weight, urgent ones first, then those that were served least. */
  #shares(): FlowShare[] {
    const { dispatcher } = this.#options
    const next = this.#next()
    // A few free slots are not worth a claim: more are freed shortly. A flow with little in flight does not wait for them.
    const room = dispatcher.capacity < BATCH / 4 ? 0 : Math.min(dispatcher.capacity, BATCH)
    const weights = next.reduce((sum, { flow }) => sum + WEIGHTS[flow.class], 0)
    let left = BATCH
    const shares = next.map(({ flow }) => {
      const share = room === 0 ? 0 : Math.max(1, Math.floor((room * WEIGHTS[flow.class]) / weights))
      const limit = Math.min(left, Math.max(share, dispatcher.reserveFor(flow)))
      left -= limit
      return { ...flow, limit }
    })
    const claimable = shares.filter(({ limit }) => limit > 0)
    this.#lackedCapacity = room === 0 && claimable.length < this.#due.size
    return claimable.map((share) => ({
      ...share,
      dueFrom: this.#dueFrom(this.#of(share)),
      exceptDomains: dispatcher.fullDomains(share),
    }))
  }

  /** Where the claim of a flow begins; at its head if undefined. */
  #dueFrom(known: KnownFlow): number | undefined {
    const now = performance.now()
    if (known.cursor !== undefined && now - known.headAt < HEAD_EVERY_MS) return known.cursor
    known.headAt = now
    return undefined
  }

  /** The flows that are next, in order. One pass, since there may be thousands. */
  #next(): KnownFlow[] {
    const next: KnownFlow[] = []
    for (const known of this.#due.values()) {
      if (next.length === FLOWS && !isBefore(known, next[FLOWS - 1] as KnownFlow)) continue
      const at = next.findIndex((other) => isBefore(known, other))
      next.splice(at === -1 ? next.length : at, 0, known)
      if (next.length > FLOWS) next.pop()
    }
    return next
  }

  /** Of a flow with a claim under way, which may have been forgotten meanwhile. */
  #of(flow: Flow): KnownFlow {
    return this.#known.get(flowKey(flow)) ?? newFlow(flow)
  }
}

function newFlow({ accountId, class: of }: Flow): KnownFlow {
  return { flow: { accountId, class: of }, served: 0, headAt: 0 }
}

function isBefore(a: KnownFlow, b: KnownFlow): boolean {
  const urgentFirst = Number(b.flow.class === URGENT) - Number(a.flow.class === URGENT)
  return urgentFirst < 0 || (urgentFirst === 0 && a.served < b.served)
}
