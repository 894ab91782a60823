import type { InHand } from './deliver.ts'
import type { SmtpConnection } from './smtp/connection.ts'

/** Milliseconds an idle session is kept for the next message; most servers allow minutes, few more than seconds unused. */
const IDLE_MS = 10_000
/** A session older than this, or with this many messages, is closed, so that load balancers get to balance. */
const SESSION_MS = 300_000
const SESSION_MESSAGES = 1000
/** How long a site with which no session could be had is left alone; what waits for it meanwhile is deferred unasked. */
const DOWN_MS = 30_000
/** Sessions in a row that hosts refused, with no other under way, after which the site counts as unreachable too. */
const MOST_REFUSED = 5
/** Conversations that went well after which a site that refused some is offered one connection more. */
const GROW_AFTER = 10
/** A site none of whose conversations ended for this long stalls: what waits for it goes back to the database. */
const STALL_MS = 5000
/** Domains remembered of one site; a provider may have millions, and those that were not seen lately have no mail here. */
const DOMAINS_KEPT = 5000

export interface SiteOptions {
  /** Connections at the same time. */
  readonly limit: number
  /** Delivers one and never throws. */
  readonly run: (inHand: InHand, site: Site) => Promise<void>
}

/**
 * The set of domains with the same hosts: its own queue, its own connections, its own limit, so that a slow or dead site
 * holds up nobody else.
 */
export class Site {
  readonly #domains = new Set<string>()
  #downUntil = 0
  #refusedInARow = 0
  /** Connections at the same time, as far as the site has let us. */
  #limit: number
  #wentWell = 0
  /** performance.now() when each conversation under way began. */
  readonly #began = new Set<{ readonly at: number }>()
  /** performance.now() when a conversation last ended, or the first of them began. */
  #progressAt = 0
  readonly #options: SiteOptions
  readonly #waiting: InHand[] = []
  readonly #idle: { connection: SmtpConnection; timer: NodeJS.Timeout }[] = []
  #lanes = 0

  constructor(options: SiteOptions) {
    this.#options = options
    this.#limit = options.limit
  }

  /** Deliveries waiting here, not yet being delivered. */
  get waiting(): number {
    return this.#waiting.length
  }

  get isIdle(): boolean {
    return this.#lanes === 0 && this.#waiting.length === 0 && this.#idle.length === 0
  }

  /** Domains seen here lately. */
  get domains(): ReadonlySet<string> {
    return this.#domains
  }

  see(domain: string): void {
    this.#domains.delete(domain)
    this.#domains.add(domain)
    if (this.#domains.size > DOMAINS_KEPT) this.#domains.delete(this.#domains.values().next().value as string)
  }

  /** Its hosts could not be reached a moment ago. */
  get isDown(): boolean {
    return this.#downUntil > performance.now()
  }

  /**
   * How a conversation began: the last host asked was not there, refused the session, or let us offer mail. Where others are
   * under way a refusal means too many at once (many hosts allow a few connections): one fewer. The last one tells of the site.
   */
  heard(beginning: 'unreachable' | 'refused' | 'session'): void {
    if (beginning === 'session') {
      this.#downUntil = 0
      this.#refusedInARow = 0
      if (this.#limit < this.#options.limit && ++this.#wentWell >= GROW_AFTER) this.#grow()
      return
    }
    this.#wentWell = 0
    if (this.#lanes > 1) {
      this.#limit = Math.max(1, Math.min(this.#limit, this.#lanes - 1))
      return
    }
    this.#refusedInARow++
    if (beginning === 'unreachable' || this.#refusedInARow >= MOST_REFUSED)
      this.#downUntil = performance.now() + DOWN_MS
  }

  #grow(): void {
    this.#wentWell = 0
    this.#limit++
    if (this.#waiting.length > 0) void this.#lane()
  }

  /** Mail is under way and nothing has come of any of it for some time. */
  get isStalled(): boolean {
    return this.#lanes > 0 && performance.now() - this.#progressAt > STALL_MS
  }

  /** Conversations that have been under way for longer than most take. */
  get slow(): number {
    const now = performance.now()
    let count = 0
    for (const { at } of this.#began) if (now - at > STALL_MS) count++
    return count
  }

  push(inHand: InHand): void {
    this.#waiting.push(inHand)
    if (this.#lanes < this.#limit) void this.#lane()
  }

  /** Takes back what hasn't been started. */
  drain(): InHand[] {
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

  /** The session that was used last, and so is warmest. */
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
