import { type ClaimedDelivery, type Core, count, type Flow, type FlowShare, observe, URGENT } from '@postrider/core'
import { flowKey, WEIGHTS } from '../common/fair-queue.ts'
import type { Dispatcher } from './dispatcher.ts'

/** Maximum number of deliveries per claim. */
export const BATCH = 200
/** Flows per claim. Each is an index range. */
const FLOWS = 32
/** The part of a claim that urgent flows may have. */
const URGENT_PART = 0.75
/** Milliseconds after which the queue is read even without a notification. */
export const POLL_MS = 1000
/** Milliseconds between claims of a flow that start at its head, for deliveries that became visible before the cursor. */
const HEAD_EVERY_MS = 3000
/** Milliseconds by which the cursor lags the last claim: accepts commit shortly after the time their deliveries are due. */
const CURSOR_LAG_MS = 1000
/** Flows beyond which those that had no due mail when they were claimed last are forgotten, with their cursors. */
const FLOWS_KEPT = 10_000
/** Milliseconds by which a flow may be claimed before its time, together with others: a claim of many costs little more than one of few. */
const TOGETHER_MS = 20
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
  /** Flows whose new mail other workers take first, with the time of performance.now() at which this one looks for what they left. */
  readonly #later = new Map<number, { readonly flow: Flow; readonly at: number }>()
  #lackedCapacity = false
  /** The database's clock when performance.now() was 0, as of the last look; undefined before it. */
  #clock: number | undefined
  /**
   * When the last look for due flows ended, how long it took, and how long the shorter one of the last two took: a large queue makes each look
   * long, a stall of this process or of the database only one.
   */
  #looked = { at: Number.NEGATIVE_INFINITY, milliseconds: 0, shorter: 0 }

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
      if (Number.isFinite(least)) known.served = Math.max(known.served, least)
      this.#due.set(key, known)
      this.#known.delete(key)
      this.#known.set(key, known)
    }
    for (const key of this.#known.keys()) {
      if (this.#known.size <= FLOWS_KEPT) break
      if (!this.#due.has(key)) this.#known.delete(key)
    }
  }

  /** This flow may have due mail, which other workers take first. */
  knowLater(flow: Flow, milliseconds: number): void {
    const key = flowKey(flow)
    if (!this.#later.has(key)) this.#later.set(key, { flow, at: performance.now() + milliseconds })
  }

  /** Milliseconds until the first of the flows that other workers take first is to be claimed. */
  get nextIn(): number {
    let first = Number.POSITIVE_INFINITY
    for (const { at } of this.#later.values()) first = Math.min(first, at)
    return Math.max(0, first - performance.now())
  }

  /** Whether flows may have due mail that the next claim takes. */
  get hasMore(): boolean {
    return !this.#lackedCapacity && this.#due.size > 0
  }

  /** Looks for all flows with due mail, once per second, or if `now`, before that. Returns whether it did. */
  async look(now: boolean): Promise<boolean> {
    const began = performance.now()
    const pause = Math.max(now ? 0 : POLL_MS, this.#looked.shorter / LOOKING_SHARE)
    if (began < this.#looked.at + pause) return false
    const flows = await this.#options.core.deliveries.dueFlows()
    this.#options.onAnswer()
    const [first] = flows
    // Too early rather than too late: the database looked at its clock after this.
    if (first) this.#clock = first.now - performance.now()
    this.know(flows)
    await this.#options.dispatcher.lookForParked()
    const milliseconds = performance.now() - began
    this.#looked = { at: performance.now(), milliseconds, shorter: Math.min(milliseconds, this.#looked.milliseconds) }
    return true
  }

  /** Returns the number of claimed deliveries. */
  async claim(): Promise<number> {
    const { core, workerId, dispatcher, onAnswer } = this.#options
    this.#takeLater()
    const shares = this.#shares()
    if (shares.length === 0) return 0
    // New mail of a flow may be announced while the claim is under way.
    for (const share of shares) {
      this.#due.delete(flowKey(share))
      this.#later.delete(flowKey(share))
    }
    const began = performance.now()
    const claimed = await core.deliveries.claim({ workerId, shares }).catch((error: unknown) => {
      this.know(shares)
      throw error
    })
    onAnswer()
    observe('claim_seconds', (performance.now() - began) / 1000, {})
    count('claimed_deliveries_total', {}, claimed.length)
    const byFlow = Map.groupBy(claimed, flowKey)
    for (const share of shares) this.#advance(share, byFlow.get(flowKey(share)) ?? [], began)
    this.know(shares.filter((share) => byFlow.get(flowKey(share))?.length === share.limit))
    if (claimed.length > 0) await dispatcher.take(claimed)
    return claimed.length
  }

  #takeLater(): void {
    const until = performance.now() + TOGETHER_MS
    for (const [key, { flow, at }] of this.#later) {
      if (at > until) continue
      this.#later.delete(key)
      this.know([flow])
    }
  }

  /** Records what a claim that began then took of a flow. */
  #advance(share: FlowShare, claimed: readonly ClaimedDelivery[], began: number): void {
    const known = this.#of(share)
    known.served += claimed.length / WEIGHTS[share.class]
    const latest = claimed.reduce((most, { dueAt }) => Math.max(most, dueAt), 0)
    if (share.dueFrom !== undefined) {
      known.cursor = Math.max(share.dueFrom, latest - CURSOR_LAG_MS)
      return
    }
    // From the head: either all that was due has been seen, or there is more, perhaps much that is older than the last cursor.
    const seenUntil = claimed.length < share.limit && this.#clock !== undefined ? this.#clock + began : latest
    if (seenUntil > 0) known.cursor = seenUntil - CURSOR_LAG_MS
  }

  /** Shares of the capacity: by weight, urgent ones first, then those that were served least. */
  #shares(): FlowShare[] {
    const { dispatcher } = this.#options
    // A few free slots are not worth a claim: more are freed shortly. A flow with little in flight does not wait for them.
    const room = dispatcher.capacity < BATCH / 4 ? 0 : Math.min(dispatcher.capacity, BATCH)
    let isRefused = false
    const next = this.#next((flow) => {
      const may = room > 0 ? dispatcher.mayClaim(flow) : dispatcher.reserveFor(flow) > 0
      isRefused ||= !may
      return may
    })
    const weights = next.reduce((sum, { flow }) => sum + WEIGHTS[flow.class], 0)
    const given = { all: 0, urgent: 0 }
    const shares = next.map(({ flow }) => {
      const isUrgent = flow.class === URGENT
      const share = Math.max(1, Math.floor((room * WEIGHTS[flow.class]) / weights))
      const left = isUrgent ? URGENT_PART * BATCH - given.urgent : BATCH - given.all
      const limit = Math.min(left, room > 0 ? share : dispatcher.reserveFor(flow, given.all))
      given.all += limit
      if (isUrgent) given.urgent += limit
      return { ...flow, limit }
    })
    const claimable = shares.filter(({ limit }) => limit > 0)
    this.#lackedCapacity = isRefused || (room === 0 && claimable.length < this.#due.size)
    return claimable.map((share) => ({ ...share, dueFrom: this.#dueFrom(this.#of(share)) }))
  }

  /** Where the claim of a flow begins; at its head if undefined. */
  #dueFrom(known: KnownFlow): number | undefined {
    const now = performance.now()
    if (known.cursor !== undefined && now - known.headAt < HEAD_EVERY_MS) return known.cursor
    known.headAt = now
    return undefined
  }

  /** The flows that are next, in order. One pass, since there may be thousands. Urgent flows leave some places to others. */
  #next(mayBeClaimed: (flow: Flow) => boolean): KnownFlow[] {
    const [urgent, others]: [KnownFlow[], KnownFlow[]] = [[], []]
    for (const known of this.#due.values()) {
      const isUrgent = known.flow.class === URGENT
      const [next, most] = isUrgent ? [urgent, FLOWS * URGENT_PART] : [others, FLOWS]
      const last = next[most - 1]
      if ((last && last.served <= known.served) || !mayBeClaimed(known.flow)) continue
      const at = next.findIndex((other) => known.served < other.served)
      next.splice(at === -1 ? next.length : at, 0, known)
      if (next.length > most) next.pop()
    }
    return [...urgent, ...others.slice(0, FLOWS - urgent.length)]
  }

  /** Of a flow with a claim under way, which may have been forgotten meanwhile. */
  #of(flow: Flow): KnownFlow {
    return this.#known.get(flowKey(flow)) ?? newFlow(flow)
  }
}

function newFlow({ accountId, class: of }: Flow): KnownFlow {
  return { flow: { accountId, class: of }, served: 0, headAt: 0 }
}
