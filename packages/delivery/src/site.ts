import type { InFlightDelivery } from './deliver.ts'
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
  /** Delivers one delivery; never throws. */
  readonly run: (inFlight: InFlightDelivery, site: Site) => Promise<void>
}

/**
 * The set of domains with the same hosts. It has its own queue, connections and limit, so that a slow or dead site does not delay
 * others.
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
  readonly #waiting: InFlightDelivery[] = []
  readonly #idle: { connection: SmtpConnection; timer: NodeJS.Timeout }[] = []
  #lanes = 0

  constructor(options: SiteOptions) {
    this.#options = options
    this.#limit = options.limit
  }

  /** Number of waiting deliveries that have not started. */
  get waiting(): number {
    return this.#waiting.length
  }

  get isIdle(): boolean {
    return this.#lanes === 0 && this.#waiting.length === 0 && this.#idle.length === 0
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
    if (this.#lanes > 1) {
      this.#limit = Math.max(1, Math.min(this.#limit, this.#lanes - 1))
      return
    }
    this.#refusedInARow++
    if (beginning === 'unreachable' || this.#refusedInARow >= MAX_REJECTED)
      this.#downUntil = performance.now() + DOWN_MS
  }

  #grow(): void {
    this.#successes = 0
    this.#limit++
    if (this.#waiting.length > 0) void this.#lane()
  }

  /** Conversations are in progress, and none has ended for some time. */
  get isStalled(): boolean {
    return this.#lanes > 0 && performance.now() - this.#progressAt > STALL_MS
  }

  /** Number of conversations in progress for longer than usual. */
  get slow(): number {
    const now = performance.now()
    let count = 0
    for (const { at } of this.#began) if (now - at > STALL_MS) count++
    return count
  }

  push(inFlight: InFlightDelivery): void {
    this.#waiting.push(inFlight)
    if (this.#lanes < this.#limit) void this.#lane()
  }

  /** Removes and returns the deliveries that have not started. */
  drain(): InFlightDelivery[] {
    return this.#waiting.splice(0)
  }

  async #lane(): Promise<void> {
    if (this.#lanes++ === 0) this.#progressAt = performance.now()
    while (this.#lanes <= this.#limit) {
      const next = this.#waiting.shift()
      if (!next) break
      const conversation = { at: performance.now() }
      this.#began.add(conversation)
      await this.#options.run(next, this)
      this.#began.delete(conversation)
      this.#progressAt = performance.now()
    }
    this.#lanes--
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
