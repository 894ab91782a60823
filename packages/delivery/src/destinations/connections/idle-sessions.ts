import type { SmtpConnection } from '../../smtp/connection.ts'

/** Milliseconds an idle session is kept for the next message. Most servers allow minutes; few messages come after seconds. */
const IDLE_MS = 10_000
/** Sessions older than this are closed, so that load balancers can balance. */
const SESSION_MS = 300_000

/** An open session, and the permit of its connection. */
export interface Session {
  readonly connection: SmtpConnection
  readonly permit: number
}

interface Idle extends Session {
  readonly timer: NodeJS.Timeout
}

/** The sessions of a destination that wait for the next message, by site: only the hosts of its own site take a message. */
export class IdleSessions {
  readonly #bySite = new Map<string, Idle[]>()
  readonly #onClosed: (session: Session) => void
  #count = 0

  /** `onClosed`: the connection of an idle session is closed. */
  constructor(onClosed: (session: Session) => void) {
    this.#onClosed = onClosed
  }

  get count(): number {
    return this.#count
  }

  /** The most recently used session of a site. The server may have ended it meanwhile. */
  takeOf(site: string): Session | undefined {
    const idle = this.#bySite.get(site)?.pop()
    if (idle) this.#forget(site, idle)
    return idle
  }

  /** A session of any site, the one that was kept first. */
  takeAny(): Session | undefined {
    for (const [site, own] of this.#bySite) {
      const idle = own.shift()
      if (!idle) continue
      this.#forget(site, idle)
      return idle
    }
    return undefined
  }

  /** Keeps a session for the next message of its site. Returns false if it has ended or has served long enough. */
  keep(site: string, session: Session, maxMessages: number): boolean {
    const { connection } = session
    if (!connection.usable) return false
    if (performance.now() - connection.openedAt > SESSION_MS || connection.transactions >= maxMessages) {
      connection.close()
      return false
    }
    const own = this.#bySite.get(site) ?? []
    const idle: Idle = { ...session, timer: setTimeout(() => this.#expire(site, idle), IDLE_MS) }
    own.push(idle)
    this.#bySite.set(site, own)
    this.#count++
    return true
  }

  closeAll(): void {
    for (let session = this.takeAny(); session; session = this.takeAny()) this.#close(session)
  }

  #expire(site: string, idle: Idle): void {
    const own = this.#bySite.get(site)
    const at = own?.indexOf(idle) ?? -1
    if (at === -1) return
    own?.splice(at, 1)
    this.#forget(site, idle)
    this.#close(idle)
  }

  #forget(site: string, { timer }: Idle): void {
    clearTimeout(timer)
    this.#count--
    if (this.#bySite.get(site)?.length === 0) this.#bySite.delete(site)
  }

  #close(session: Session): void {
    session.connection.close()
    void session.connection.closed.then(() => this.#onClosed(session))
  }
}
