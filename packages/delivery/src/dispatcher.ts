import {
  type ClaimedDelivery,
  type Config,
  type Core,
  DamagedBody,
  isDatabaseAway,
  type LoadedMessage,
  type Log,
  type Outcome,
} from '@postrider/core'
import { deliver, type InFlightDelivery } from './deliver.ts'
import { InFlightDeliveries, MAX_IN_FLIGHT } from './in-flight.ts'
import { LargeBodies } from './large-bodies.ts'
import { beginningOf, damaged, INTERNAL_ERROR, siteDown, summary, unrecordable } from './own-outcomes.ts'
import type { Recorder } from './recorder.ts'
import type { Routes } from './routes.ts'
import { Site } from './site.ts'
import { HostMemory } from './smtp/session.ts'
import { Suspects } from './suspects.ts'

export interface DispatcherOptions {
  readonly core: Core
  readonly config: Config
  readonly log: Log
  readonly workerId: number
  readonly routes: Routes
  readonly recorder: Recorder
  /** Called whenever capacity was freed. */
  readonly onCapacity: () => void
}

/** Waiting deliveries per connection of a site; above this number its mail stays in the database. */
const WAITING_PER_CONNECTION = 8
/** Factor for the connections to a single destination (relay host, sandbox). */
const SINGLE_FACTOR = 2
const SITES_KEPT = 20_000
/** Milliseconds between checks for stalled sites. */
const LOOK_EVERY_MS = 1000

/** Passes claimed deliveries to their sites and outcomes to the recorder. */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #sites = new Map<string, Site>()
  /** Sites with more due mail than their capacity: it stays in the database and is claimed by domain when capacity is freed. */
  readonly #backlogged = new Set<Site>()
  readonly #memory = new HostMemory()
  readonly #bodies: LargeBodies
  readonly #suspects: Suspects
  readonly #inFlight: InFlightDeliveries
  readonly #perSite: number
  readonly #looking: NodeJS.Timeout
  readonly #givingBack = new Set<Promise<void>>()
  #stopping = false

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#bodies = new LargeBodies(options.core, options.routes)
    this.#suspects = new Suspects(options)
    this.#inFlight = new InFlightDeliveries(options.onCapacity)
    this.#perSite = options.config.siteConnections * (options.routes.single ? SINGLE_FACTOR : 1)
    this.#looking = setInterval(() => this.#lookForStalls(), LOOK_EVERY_MS)
  }

  /** How many more deliveries may be claimed. */
  get capacity(): number {
    return this.#stopping ? 0 : this.#inFlight.capacity
  }

  /** Domains whose sites have no capacity, to be excluded from claims. */
  fullDomains(): string[] {
    return [...this.#backlogged].flatMap((site) => [...site.domains])
  }

  get isBacklogged(): boolean {
    return this.#backlogged.size > 0
  }

  /** The database has no more due mail for this site: it is claimed with that of all sites again. */
  clearBacklog(site: Site): void {
    this.#backlogged.delete(site)
  }

  /** Sites with mail left in the database that have capacity again. */
  sitesWithCapacity(): { site: Site; capacity: number }[] {
    const limit = this.#siteLimit
    return [...this.#backlogged]
      .filter((site) => site.waiting <= limit / 2 && !this.#stalls(site))
      .map((site) => ({ site, capacity: limit - site.waiting }))
  }

  get #siteLimit(): number {
    return this.#options.routes.single ? MAX_IN_FLIGHT : this.#perSite * WAITING_PER_CONNECTION
  }

  /**
   * Starts work on claimed deliveries. Resolves when their messages are loaded; routing continues in the background, since a slow DNS
   * server must not delay the next claim. Deliveries that cannot be started are released.
   */
  async take(claimed: readonly ClaimedDelivery[]): Promise<void> {
    for (const delivery of claimed) this.#inFlight.take(delivery)
    try {
      const messages = await this.#options.core.messages.load([...new Set(claimed.map(({ messageId }) => messageId))])
      for (const delivery of claimed) {
        const message = messages.get(delivery.messageId)
        if (!message) {
          this.#fault(delivery, new Error('the message of a queued delivery does not exist'))
          continue
        }
        this.#inFlight.load(message)
        const inFlight = { delivery, message }
        this.#route(inFlight).catch((error: unknown) => this.#fault(delivery, error, message))
      }
    } catch (error) {
      await this.#release(
        claimed.map((delivery) => ({ delivery })),
        1,
      )
      throw error
    }
  }

  /**
   * Releases deliveries that the database has as claimed by this worker but that are not in flight here: the response to their claim was
   * lost with the connection. Must be called between two claims.
   */
  async reconcile(): Promise<void> {
    const { core, workerId, log } = this.#options
    await Promise.all(this.#givingBack)
    const unknown = (await core.deliveries.held(workerId)).filter((delivery) => !this.#inFlight.has(delivery))
    if (unknown.length === 0) return
    log.warn({ count: unknown.length }, 'releasing deliveries whose claim response was lost')
    await core.deliveries.release(workerId, unknown, 0)
  }

  async #route(inFlight: InFlightDelivery): Promise<void> {
    const { recipientDomain } = inFlight.delivery
    const route = await this.#options.routes.route(recipientDomain)
    if (route.kind === 'failed') return this.#finish(inFlight.delivery, route.outcome, inFlight.message)
    const site = this.#site(route.site)
    site.see(recipientDomain)
    if (this.#stopping) return this.#release([inFlight], 0)
    if (site.waiting >= this.#siteLimit || this.#stalls(site)) {
      // Leave it in the queue, where it uses no memory.
      this.#backlogged.add(site)
      return this.#release([inFlight], 1)
    }
    site.push(inFlight)
  }

  #site(name: string): Site {
    let site = this.#sites.get(name)
    if (!site) {
      if (this.#sites.size >= SITES_KEPT) this.#forgetIdleSites()
      site = new Site({ limit: this.#perSite, run: (inFlight, own) => this.#run(inFlight, own, name) })
      this.#sites.set(name, site)
    }
    return site
  }

  /**
   * A site whose conversations do not end (a tarpit, a host that never greets) keeps its connections only: the deliveries that wait for
   * it are released to the database, where they take no capacity from other sites, until a conversation ends.
   */
  #lookForStalls(): void {
    let slow = 0
    for (const site of this.#sites.values()) {
      slow += site.slow
      if (site.waiting === 0 || !this.#stalls(site)) continue
      this.#backlogged.add(site)
      void this.#release(site.drain(), 1)
    }
    this.#inFlight.slow = slow
    if (slow > 0) this.#options.onCapacity()
  }

  /** If all mail goes to one site, there are no others that need capacity. */
  #stalls(site: Site): boolean {
    return site.isStalled && !this.#options.routes.single
  }

  #forgetIdleSites(): void {
    for (const [name, site] of this.#sites) if (site.isIdle && !this.#backlogged.has(site)) this.#sites.delete(name)
  }

  async #run(inFlight: InFlightDelivery, site: Site, name: string): Promise<void> {
    try {
      const { core, config, routes, recorder, workerId } = this.#options
      const { delivery, message } = inFlight
      const route = await routes.route(delivery.recipientDomain)
      // The route may have changed while the delivery waited; it is then passed to the new site.
      if (route.kind === 'failed') return this.#finish(delivery, route.outcome, message)
      if (route.site !== name) return await this.#route(inFlight)
      if (site.isDown) return this.#finish(delivery, siteDown(name), message)
      const outcome = await deliver(inFlight, {
        core,
        bodies: this.#bodies,
        suspects: this.#suspects,
        site: name,
        workerId,
        route,
        routes,
        heloName: config.heloName,
        returnPathHost: config.returnPathHost,
        memory: this.#memory,
        reuse: () => site.reuse(),
        keep: (connection) => (this.#stopping ? connection.close() : site.keep(connection)),
        recordEndOfData: (own, host) =>
          recorder.recordEndOfData({ ...own, workerId, host, domainId: message.domainId }),
      })
      // A delivery restricted to one host says nothing about the site's other hosts.
      if (outcome && outcome.kind !== 'dropped' && delivery.onlyHost === null) site.heard(beginningOf(outcome))
      this.#finish(delivery, outcome, message)
    } catch (error) {
      if (!isDatabaseAway(error)) return this.#fault(inFlight.delivery, error, inFlight.message)
      // Nothing was offered to a server: a failure to record end of data is an outcome, not an error. Other errors may be caused by this
      // message and must count as an attempt.
      const { messageId, recipientNo } = inFlight.delivery
      this.#options.log.warn(
        { err: error, messageId, recipientNo },
        'delivery released without an attempt: database unavailable',
      )
      await this.#release([inFlight], 1)
    }
  }

  /** An internal error: logged, temporary, retried. */
  #fault(delivery: ClaimedDelivery, error: unknown, message?: LoadedMessage): void {
    const { messageId, recipientNo, attempt } = delivery
    this.#options.log.error({ err: error, messageId, recipientNo, attempt }, 'internal error in delivery')
    this.#finish(delivery, error instanceof DamagedBody ? damaged(error) : INTERNAL_ERROR, message)
  }

  /**
   * Records an outcome; undefined means that the lease is lost and nothing may be recorded. Does not wait: the connection continues with
   * its next delivery meanwhile.
   */
  #finish(
    delivery: ClaimedDelivery,
    outcome: Outcome | undefined,
    message: LoadedMessage | undefined,
    again = false,
  ): void {
    if (!outcome) {
      this.#inFlight.remove(delivery, message)
      return
    }
    const { recorder, workerId, log } = this.#options
    const { messageId, recipientNo, attempt } = delivery
    recorder.record({ messageId, recipientNo, attempt, workerId, outcome }).then(
      (taken) => {
        if (!taken) log.warn({ messageId, recipientNo, attempt }, 'stale result rejected')
        else log.info({ messageId, recipientNo, attempt, ...summary(outcome) }, outcome.kind)
        this.#inFlight.remove(delivery, message)
      },
      (err: unknown) => {
        log.error({ err, messageId, recipientNo, attempt }, 'could not record result')
        // Retry with an outcome that the database cannot reject. If that fails, too, the delivery stays in flight: if it were released,
        // it would be sent again immediately. Its claim ends with this worker's lease, and the recorded end of data shows its state.
        if (!again) this.#finish(delivery, unrecordable(outcome), message, true)
      },
    )
  }

  async #release(
    inFlight: readonly { delivery: ClaimedDelivery; message?: LoadedMessage }[],
    seconds: number,
  ): Promise<void> {
    const { core, workerId, log } = this.#options
    const deliveries = inFlight.map(({ delivery }) => delivery)
    // Removed before the database is updated, since this worker may then claim them again at once, under the same attempt number.
    // reconcile() releases those that the update missed.
    for (const { delivery, message } of inFlight) this.#inFlight.remove(delivery, message)
    const release = core.deliveries
      .release(workerId, deliveries, seconds)
      .catch((err) => log.warn({ err }, 'could not release deliveries'))
    this.#givingBack.add(release)
    await release
    this.#givingBack.delete(release)
  }

  /**
   * Claims nothing more, releases deliveries that have not started, and resolves when the others have finished, or after `patience`
   * milliseconds. Other workers take over what is still in progress then.
   */
  async drain(patience: number): Promise<void> {
    this.#stopping = true
    clearInterval(this.#looking)
    const deadline = performance.now() + patience
    const unstarted = [...this.#sites.values()].flatMap((site) => site.drain())
    if (unstarted.length > 0) await this.#release(unstarted, 0)
    while (this.#inFlight.count > 0 && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 20))
    for (const site of this.#sites.values()) site.close()
  }
}
