import type { InHand } from './deliver.ts'
import type { SmtpConnection } from './smtp/connection.ts'

/** Milliseconds an idle session is kept for the next message; most servers allow minutes, few more than seconds unused. */
const IDLE_MS = 10_000
/** A session older than this, or with this many messages, is closed, so that load balancers get to balance. */
const SESSION_MS = 300_000
const SESSION_MESSAGES = 1000
/** How long a site none of whose hosts could be reached is left alone; what waits for it meanwhile is deferred unasked. */
const DOWN_MS = 30_000
/** Sessions in a row that hosts refused, however they did it, after which the site counts as unreachable too. */
const MOST_REFUSED = 5
/** A site none of whose conversations ended for this long stalls: what waits for it goes back to the database. */
const STALL_MS = 5000
/** Domains remembered of one site; a provider may have millions, and those that were not seen lately have no mail here. */
const DOMAINS_KEPT = 5000

export interface SiteOptions {
  readonly name: string
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
  readonly name: string
  readonly #domains = new Set<string>()
  #downUntil = 0
  #refusedInARow = 0
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
    this.name = options.name
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

  /** How a conversation began: none of the hosts was there, they refused the session, or mail was offered. */
  heard(beginning: 'unreachable' | 'refused' | 'session'): void {
    this.#refusedInARow = beginning === 'refused' ? this.#refusedInARow + 1 : 0
    if (beginning === 'unreachable' || this.#refusedInARow >= MOST_REFUSED)
      this.#downUntil = performance.now() + DOWN_MS
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
    if (this.#lanes < this.#options.limit) void this.#lane()
  }

  /** Takes back what hasn't been started. */
  drain(): InHand[] {
    return this.#waiting.splice(0)
  }

  async #lane(): Promise<void> {
    if (this.#lanes++ === 0) this.#progressAt = performance.now()
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
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
