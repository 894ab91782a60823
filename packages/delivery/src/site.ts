import type { InHand } from './deliver.ts'
import type { SmtpConnection } from './smtp/connection.ts'

/** Milliseconds an idle session is kept for the next message; most servers allow minutes, few more than seconds unused. */
const IDLE_MS = 10_000
/** A session older than this, or with this many messages, is closed, so that load balancers get to balance. */
const SESSION_MS = 300_000
const SESSION_MESSAGES = 1000
/** How long a site none of whose hosts could be reached is left alone; what waits for it meanwhile is deferred unasked. */
export const DOWN_MS = 30_000

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
  /** Domains seen here. */
  readonly domains = new Set<string>()
  /** performance.now() until which its hosts are taken to be down. */
  downUntil = 0
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

  push(inHand: InHand): void {
    this.#waiting.push(inHand)
    if (this.#lanes < this.#options.limit) void this.#lane()
  }

  /** Takes back what hasn't been started. */
  drain(): InHand[] {
    return this.#waiting.splice(0)
  }

  async #lane(): Promise<void> {
    this.#lanes++
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) await this.#options.run(next, this)
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
