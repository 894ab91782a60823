import { BULK, type Flow } from '@postrider/core'
import type { Conversations } from './conversations.ts'
import type { InFlightDelivery } from './deliver.ts'
import { FairQueue } from './fair-queue.ts'
import type { SmtpConnection } from './smtp/connection.ts'

/** Milliseconds an idle session is kept for the next message. Most servers allow minutes; few messages come after seconds. */
const IDLE_MS = 10_000
/** Sessions older than this, or with this many messages, are closed, so that load balancers can balance. */
const SESSION_MS = 300_000
const SESSION_MESSAGES = 1000
/** Milliseconds a site is not contacted after no session could be opened; its waiting deliveries are deferred without an attempt. */
const DOWN_MS = 30_000
/** Consecutive rejected sessions, with no other in progress, after which the site counts as unreachable. */
const MAX_REJECTED = 5
/** Successful conversations after which a site that rejected some is given one more connection. */
const GROW_AFTER = 10
/** Milliseconds without the end of a conversation after which a site is stalled: its waiting deliveries return to the database. */
const STALL_MS = 5000
/** Maximum number of domains remembered per site; a provider may host millions, and those not seen lately have no mail here. */
const DOMAINS_KEPT = 5000

export interface SiteOptions {
  /** Maximum number of concurrent connections. */
  readonly limit: number
  readonly conversations: Conversations
  /** Delivers one delivery; never throws. */
  readonly run: (inFlight: InFlightDelivery, site: Site) => Promise<void>
}

/**
 * The set of domains with the same hosts. It has its own queue, connections and limit, so that a slow or dead site does not delay
 * others. Flows take turns on its connections, and bulk mail leaves one of them to others.
 */
export class Site {
  readonly #domains = new Set<string>()
  #downUntil = 0
  #refusedInARow = 0
  /** Concurrent connections that the site currently accepts. */
  #limit: number
  #successes = 0
  /** performance.now() at the start of each conversation in progress. */
  readonly #began = new Set<{ readonly at: number }>()
  /** performance.now() at the end of the last conversation, or at the start of the first one in progress. */
  #progressAt = 0
  readonly #options: SiteOptions
  readonly #waiting = new FairQueue<InFlightDelivery>()
  readonly #idle: { connection: SmtpConnection; timer: NodeJS.Timeout }[] = []
  /** Number of conversations in progress, and of those with bulk mail. */
  #active = 0
  #activeBulk = 0

  constructor(options: SiteOptions) {
    this.#options = options
    this.#limit = options.limit
  }

  /** Number of waiting deliveries that have not started. */
  get waiting(): number {
    return this.#waiting.length
  }

  waitingOf(flow: Flow): number {
    return this.#waiting.countOf(flow)
  }

  /** Number of flows that have deliveries waiting here, with this one. */
  flowsWith(flow: Flow): number {
    return this.#waiting.flows + (this.#waiting.countOf(flow) > 0 ? 0 : 1)
  }

  get isIdle(): boolean {
    return this.#active === 0 && this.#waiting.length === 0 && this.#idle.length === 0
  }

  /** Domains seen recently. */
  get domains(): ReadonlySet<string> {
    return this.#domains
  }

  see(domain: string): void {
    this.#domains.delete(domain)
    this.#domains.add(domain)
    if (this.#domains.size > DOMAINS_KEPT) this.#domains.delete(this.#domains.values().next().value as string)
  }

  /** Whether no session could be opened within the last {@link DOWN_MS}. */
  get isDown(): boolean {
    return this.#downUntil > performance.now()
  }

  /**
   * Reports how a conversation began: the last host tried was unreachable, rejected the session, or accepted it. If other conversations
   * are in progress, a rejection means too many connections (many hosts allow few), and the limit is lowered by one. If there are none,
   * it concerns the site.
   */
  heard(beginning: 'unreachable' | 'refused' | 'session'): void {
    if (beginning === 'session') {
      this.#downUntil = 0
      this.#refusedInARow = 0
      if (this.#limit < this.#options.limit && ++this.#successes >= GROW_AFTER) this.#grow()
      return
    }
    this.#successes = 0
    if (this.#active > 1) {
      this.#limit = Math.max(1, Math.min(this.#limit, this.#active - 1))
      return
    }
    this.#refusedInARow++
    if (beginning === 'unreachable' || this.#refusedInARow >= MAX_REJECTED)
      this.#downUntil = performance.now() + DOWN_MS
  }

  #grow(): void {
    this.#successes = 0
    this.#limit++
    this.start()
  }

  /** Conversations are in progress, and none has ended for some time. */
  get isStalled(): boolean {
    return this.#active > 0 && performance.now() - this.#progressAt > STALL_MS
  }

  /** Number of conversations in progress for longer than usual. */
  get slow(): number {
    const now = performance.now()
    let count = 0
    for (const { at } of this.#began) if (now - at > STALL_MS) count++
    return count
  }

  push(inFlight: InFlightDelivery): void {
    this.#waiting.push(inFlight.delivery, inFlight)
    this.start()
  }

  /** Removes and returns the deliveries that have not started. */
  drain(): InFlightDelivery[] {
    return this.#waiting.drain()
  }

  /** Starts as many conversations as may be started. */
  start(): void {
    const { conversations } = this.#options
    let tooMany = false
    const mayStart = (flow: Flow): boolean => {
      if (!this.#hasConnectionFor(flow)) return false
      const may = conversations.mayStart(flow)
      tooMany ||= !may
      return may
    }
    while (this.#active < this.#limit) {
      const next = this.#waiting.shift(mayStart)
      if (!next) break
      void this.#converse(next)
    }
    if (tooMany) conversations.wait(this)
  }

  #hasConnectionFor(flow: Flow): boolean {
    return flow.class !== BULK || this.#limit === 1 || this.#activeBulk < this.#limit - 1
  }

  async #converse(inFlight: InFlightDelivery): Promise<void> {
    const { delivery } = inFlight
    const { conversations, run } = this.#options
    const bulk = delivery.class === BULK ? 1 : 0
    if (this.#active++ === 0) this.#progressAt = performance.now()
    this.#activeBulk += bulk
    const conversation = { at: performance.now() }
    this.#began.add(conversation)
    conversations.enter(delivery)
    await run(inFlight, this)
    this.#began.delete(conversation)
    this.#progressAt = performance.now()
    this.#active--
    this.#activeBulk -= bulk
    conversations.leave(delivery)
    this.start()
  }

  /** The most recently used session. */
  reuse(): SmtpConnection | undefined {
    for (let kept = this.#idle.pop(); kept; kept = this.#idle.pop()) {
      clearTimeout(kept.timer)
      if (kept.connection.usable) return kept.connection
    }
    return undefined
  }

  keep(connection: SmtpConnection): void {
    const spent = performance.now() - connection.openedAt > SESSION_MS || connection.transactions >= SESSION_MESSAGES
    if (!connection.usable) return
    if (spent) {
      connection.close()
      return
    }
    const timer = setTimeout(() => {
      this.#idle.splice(
        this.#idle.findIndex((kept) => kept.connection === connection),
        1,
      )
      connection.close()
    }, IDLE_MS)
    this.#idle.push({ connection, timer })
  }

  close(): void {
    for (const { connection, timer } of this.#idle.splice(0)) {
      clearTimeout(timer)
      connection.close()
    }
  }
}
