import type { PlaceLimits } from '@postrider/core'
import type { Connections } from '../../attempt/connections.ts'
import type { SmtpConnection } from '../../smtp/connection.ts'
import { IdleSessions, type Session } from './idle-sessions.ts'
import { Permits, type PermitsOptions } from './permits.ts'

export interface DestinationConnectionsOptions extends PermitsOptions {
  readonly limits: () => PlaceLimits
}

/** The connections of this worker to one destination: each has a permit as long as it is open. */
export class DestinationConnections {
  readonly #permits: Permits
  readonly #idle: IdleSessions
  readonly #limits: () => PlaceLimits

  constructor(options: DestinationConnectionsOptions) {
    this.#limits = options.limits
    this.#permits = new Permits(options)
    this.#idle = new IdleSessions(({ permit }) => this.#permits.give(permit))
  }

  /** Whether there is a permit or an idle session for another conversation. */
  get hasFree(): boolean {
    return this.#mayOpen || this.#idle.count > 0
  }

  /** After the limit was lowered, there are more permits; those of closing connections are in use. */
  get #mayOpen(): boolean {
    return this.#permits.free > 0 && this.#permits.inUse < this.#limits().connections
  }

  /** Number of idle sessions. */
  get idle(): number {
    return this.#idle.count
  }

  /** Number of permits, in use or not. */
  get held(): number {
    return this.#permits.held
  }

  /** Whether it has no permits, and asks for none. */
  get isEmpty(): boolean {
    return this.#permits.held === 0 && !this.#permits.isAsking
  }

  get isExhausted(): boolean {
    return this.#permits.isExhausted
  }

  /** Asks for permits, so that `wanted` more conversations can begin. */
  ask(wanted: number): void {
    this.#permits.ask(wanted, this.#limits().connections)
  }

  /**
   * Runs a conversation with an idle session of its site, with a permit, or with the permit of an idle session of another site, which is
   * closed before. Only if {@link hasFree}. Returns whether a server was offered a message.
   */
  async use(site: string, converse: (own: Connections) => Promise<void>): Promise<boolean> {
    const session = this.#idle.takeOf(site)
    const permit = session?.permit ?? (this.#mayOpen ? this.#permits.take() : undefined)
    if (permit !== undefined) return this.#useWith({ permit, kept: session?.connection }, site, converse)
    const other = this.#idle.takeAny() as Session
    other.connection.close()
    await other.connection.closed
    return this.#useWith({ permit: other.permit, kept: undefined }, site, converse)
  }

  async #useWith(
    { permit, kept }: { readonly permit: number; readonly kept: SmtpConnection | undefined },
    site: string,
    converse: (own: Connections) => Promise<void>,
  ): Promise<boolean> {
    let last = kept
    const opened: SmtpConnection[] = []
    let isKept = false
    let isTooMany = false
    const transactions = kept?.transactions
    const keep = (connection: SmtpConnection): void => {
      const { connections, messagesPerConnection, isPaused } = this.#limits()
      if (isPaused || this.#permits.inUse > connections) connection.close()
      else isKept = this.#idle.keep(site, { connection, permit }, messagesPerConnection)
    }
    await converse({
      kept,
      opened: (connection) => {
        last = connection
        opened.push(connection)
      },
      keep,
      giveUp: () => {
        isTooMany = true
      },
    })
    // It ended before it used the session: the delivery waits or has expired. Otherwise the permit would be free only when the server hangs up.
    if (kept && last === kept && !isKept && kept.usable) {
      if (kept.transactions === transactions) keep(kept)
      else kept.close()
    }
    const isOffered = kept?.transactions !== transactions || opened.some((one) => one.transactions > 0)
    if (isKept) return isOffered
    const end = (): void => (isTooMany ? this.#permits.giveUp(permit) : this.#permits.give(permit))
    if (last) void last.closed.then(end)
    else end()
    return isOffered
  }

  /** Closes and frees what the limits no longer allow, and frees permits that were not used for some time. */
  tidy(): void {
    const { connections, isPaused } = this.#limits()
    if (isPaused) this.#idle.closeAll()
    this.#permits.freeUnused(connections)
  }

  /** Closes idle sessions and frees all permits that are not in use. */
  close(): void {
    this.#idle.closeAll()
    this.#permits.freeUnused(0)
  }
}
