import { BULK, type Flow, type WaitingFor } from '@postrider/core'
import type { Conversations } from './conversations.ts'
import type { InFlightDelivery } from './deliver.ts'
import { FairQueue } from './fair-queue.ts'
import { IdleSessions, type Session } from './idle-sessions.ts'
import { Permits } from './permits.ts'
import { SiteHealth } from './site-health.ts'
import type { Slots } from './slots.ts'
import type { SmtpConnection } from './smtp/connection.ts'

/** Successful conversations after which a place that rejected some is given one more connection. */
const GROW_AFTER = 10
/** Milliseconds without the end of a conversation after which a place is stalled: its waiting deliveries return to the database. */
const STALL_MS = 5000

/** The limits of a place, as they are now. */
export interface PlaceLimits {
  /** Concurrent connections of all workers. */
  readonly connections: number
  readonly messagesPerConnection: number
}

export interface PlaceOptions {
  readonly name: string
  readonly limits: PlaceLimits
  readonly conversations: Conversations
  readonly slots: Slots
  /** Delivers one delivery; never throws. */
  readonly run: (inFlight: RoutedDelivery, place: Place, own: Connections) => Promise<void>
  /** Called when the place can have more mail. */
  readonly onCapacity: () => void
}

/** A delivery and the site it goes to. */
export interface RoutedDelivery extends InFlightDelivery {
  readonly site: string
}

/** The connections of one conversation: one at a time. */
export interface Connections {
  /** An open session of the site, if there was one. */
  readonly kept: SmtpConnection | undefined
  /** A connection was opened; the one before is closed. */
  opened(connection: SmtpConnection): void
  /** Keeps the session for further messages. */
  keep(connection: SmtpConnection): void
}

/**
 * What limits of connections apply to: a site (the domains with the same MX hosts), or a mailbox provider with all its sites. It has its own
 * queue and connections, so that a slow or dead one does not delay others. Flows take turns on its connections, and bulk mail leaves
 * one of them to others.
 */
export class Place {
  readonly name: string
  readonly health = new SiteHealth()
  readonly #options: PlaceOptions
  readonly #waiting = new FairQueue<RoutedDelivery>()
  readonly #permits: Permits
  readonly #idle: IdleSessions
  #limits: PlaceLimits
  /** Conversations of this worker at once that the place currently accepts. */
  #accepted: number
  #successes = 0
  /** performance.now() at the start of each conversation in progress. */
  readonly #began = new Set<{ readonly at: number }>()
  /** performance.now() at the end of the last conversation, or at the start of the first one in progress. */
  #progressAt = 0
  #activeBulk = 0

  constructor(options: PlaceOptions) {
    const { name, slots, limits, onCapacity } = options
    this.name = name
    this.#options = options
    this.#limits = limits
    this.#accepted = limits.connections
    const onAnswer = (): void => {
      this.start()
      if (this.#waiting.length === 0) onCapacity()
    }
    this.#permits = new Permits({ place: name, slots, onAnswer })
    this.#idle = new IdleSessions(({ permit }) => this.#permits.give(permit))
  }

  get limits(): PlaceLimits {
    return this.#limits
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
    return this.#began.size === 0 && this.#waiting.length === 0 && this.#permits.held === 0
  }

  /** Why no delivery of this flow can be started now and for some time; undefined if one can. */
  closedFor(_flow: Flow): WaitingFor | undefined {
    return this.#permits.isExhausted ? 'connections' : undefined
  }

  /** Whether parked mail can be started; if it lacks a connection, one is asked for. */
  isReady(): boolean {
    if (this.#permits.held > 0) return true
    this.#permits.ask(1, this.#limits.connections)
    return false
  }

  /**
   * Reports how a conversation with a site began: its last host was unreachable, rejected the session, or accepted it. If other
   * conversations are in progress, a rejection means too many connections (many hosts allow few), and one less is used. If there are
   * none, it concerns the site.
   */
  heard(site: string, beginning: 'unreachable' | 'refused' | 'session'): void {
    if (beginning === 'session') {
      this.health.accepted(site)
      if (this.#accepted < this.#limits.connections && ++this.#successes >= GROW_AFTER) this.#grow()
      return
    }
    this.#successes = 0
    if (this.#began.size > 1) this.#accepted = Math.max(1, Math.min(this.#accepted, this.#began.size - 1))
    else this.health.failed(site, beginning)
  }

  #grow(): void {
    this.#successes = 0
    this.#accepted++
    this.start()
  }

  /** Conversations are in progress, and none has ended for some time. */
  get isStalled(): boolean {
    return this.#began.size > 0 && performance.now() - this.#progressAt > STALL_MS
  }

  /** Number of conversations in progress for longer than usual. */
  get slow(): number {
    const now = performance.now()
    let count = 0
    for (const { at } of this.#began) if (now - at > STALL_MS) count++
    return count
  }

  push(inFlight: RoutedDelivery): void {
    this.#waiting.push(inFlight.delivery, inFlight)
    this.start()
  }

  /** Removes and returns the deliveries that have not started. */
  drain(): RoutedDelivery[] {
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
    while (this.#waiting.length > 0 && this.#began.size < this.#limit) {
      this.#permits.ask(Math.min(this.#waiting.length, this.#limit - this.#began.size), this.#limits.connections)
      if (this.#permits.free === 0 && this.#idle.count === 0) break
      const next = this.#waiting.shift(mayStart)
      if (!next) break
      void this.#converse(next)
    }
    if (tooMany) conversations.wait(this)
  }

  get #limit(): number {
    return Math.min(this.#accepted, this.#limits.connections)
  }

  #hasConnectionFor(flow: Flow): boolean {
    return flow.class !== BULK || this.#limit === 1 || this.#activeBulk < this.#limit - 1
  }

  async #converse(inFlight: RoutedDelivery): Promise<void> {
    const { delivery } = inFlight
    const { conversations } = this.#options
    const bulk = delivery.class === BULK ? 1 : 0
    const conversation = { at: performance.now() }
    if (this.#began.size === 0) this.#progressAt = conversation.at
    this.#began.add(conversation)
    this.#activeBulk += bulk
    conversations.enter(delivery)
    await this.#connected(inFlight)
    this.#began.delete(conversation)
    this.#progressAt = performance.now()
    this.#activeBulk -= bulk
    conversations.leave(delivery)
    this.start()
  }

  /** Runs a delivery with an idle session of its site, a permit, or the permit of an idle session of another site, which is closed. */
  async #connected(inFlight: RoutedDelivery): Promise<void> {
    const session = this.#idle.takeOf(inFlight.site)
    const permit = session?.permit ?? this.#permits.take()
    if (permit !== undefined) return this.#runWith(inFlight, permit, session?.connection)
    const other = this.#idle.takeAny() as Session
    other.connection.close()
    await other.connection.closed
    return this.#runWith(inFlight, other.permit, undefined)
  }

  async #runWith(inFlight: RoutedDelivery, permit: number, kept: SmtpConnection | undefined): Promise<void> {
    let last = kept
    let isKept = false
    await this.#options.run(inFlight, this, {
      kept,
      opened: (connection) => {
        last = connection
      },
      keep: (connection) => {
        if (this.#permits.held > this.#limits.connections) connection.close()
        else isKept = this.#idle.keep(inFlight.site, { connection, permit }, this.#limits.messagesPerConnection)
      },
    })
    if (isKept) return
    if (last) void last.closed.then(() => this.#permits.give(permit))
    else this.#permits.give(permit)
  }

  /** To be called every second. */
  tidy(): void {
    this.#permits.freeUnused(this.#limits.connections)
    if (this.#waiting.length > 0) this.start()
  }

  close(): void {
    this.#idle.closeAll()
  }
}
