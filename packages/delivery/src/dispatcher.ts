import {
  type ClaimedDelivery,
  type Config,
  type Core,
  type Flow,
  isDatabaseAway,
  isPerishable,
  type LoadedMessage,
  type Log,
} from '@postrider/core'
import { Backlog, type Backlogged } from './backlog.ts'
import { Conversations } from './conversations.ts'
import { deliver, type InFlightDelivery } from './deliver.ts'
import { InFlightDeliveries, MAX_IN_FLIGHT } from './in-flight.ts'
import { LargeBodies } from './large-bodies.ts'
import { Outcomes } from './outcomes.ts'
import { beginningOf, siteDown, TOO_LATE } from './own-outcomes.ts'
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

/** Waiting deliveries per connection of a site; above this number its mail stays in the database. Flows share it. */
const WAITING_PER_CONNECTION = 8
/** Factor for the connections to a single destination (relay host, sandbox). */
const SINGLE_FACTOR = 2
const SITES_KEPT = 20_000
/** Sites whose mail is claimed by site before all due mail is claimed again. */
const SITES_AT_ONCE = 64
/** Milliseconds between checks for stalled sites. */
const LOOK_EVERY_MS = 1000

/** Milliseconds after its deadline in which the last attempt of a message begins: it is due when the deadline is reached. */
const LAST_ATTEMPT_MS = 15_000

function isTooLate({ delivery, takenAt }: InFlightDelivery): boolean {
  return performance.now() - takenAt > delivery.lifetimeLeft + LAST_ATTEMPT_MS
}

/** Passes claimed deliveries to their sites and outcomes to the recorder. */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #sites = new Map<string, Site>()
  readonly #backlog = new Backlog()
  readonly #conversations = new Conversations()
  readonly #memory = new HostMemory()
  readonly #bodies: LargeBodies
  readonly #suspects: Suspects
  readonly #inFlight: InFlightDeliveries
  readonly #outcomes: Outcomes
  readonly #perSite: number
  readonly #looking: NodeJS.Timeout
  readonly #givingBack = new Set<Promise<void>>()
  #stopping = false

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#bodies = new LargeBodies(options.core, options.routes)
    this.#suspects = new Suspects(options)
    this.#inFlight = new InFlightDeliveries(options.onCapacity)
    this.#outcomes = new Outcomes({ ...options, inFlight: this.#inFlight })
    this.#perSite = options.config.siteConnections * (options.routes.single ? SINGLE_FACTOR : 1)
    this.#looking = setInterval(() => this.#lookForStalls(), LOOK_EVERY_MS)
  }

  /** How many more deliveries may be claimed. */
  get capacity(): number {
    return this.#stopping ? 0 : this.#inFlight.capacity
  }

  /** How many deliveries of a flow may be claimed even without capacity, because it has few in flight. */
  reserveFor(flow: Flow, given = 0): number {
    return this.#stopping ? 0 : this.#inFlight.reserveFor(flow, given)
  }

  /** Domains whose sites have no capacity for this flow, to be excluded from its claims. */
  fullDomains(flow: Flow): string[] {
    return this.#backlog.domainsOf(flow)
  }

  get isBacklogged(): boolean {
    return !this.#backlog.isEmpty
  }

  /** The database has no more due mail of this flow for this site: it is claimed with that for all sites again. */
  clearBacklog(backlogged: Backlogged): void {
    this.#backlog.remove(backlogged)
  }

  /** Sites that have capacity again for mail left in the database, and how much of it may be claimed. */
  *sitesWithCapacity(): Generator<{ readonly backlogged: Backlogged; readonly limit: number }> {
    const hasCapacity = ({ flow, site }: Backlogged): boolean =>
      site.waitingOf(flow) <= this.#siteLimit(site, flow) / 2 && !this.#stalls(site)
    let given = 0
    for (const backlogged of this.#backlog.next(SITES_AT_ONCE, hasCapacity)) {
      const { flow, site } = backlogged
      const wanted = this.#siteLimit(site, flow) - site.waitingOf(flow)
      const limit = this.capacity - given >= wanted ? wanted : Math.min(wanted, this.reserveFor(flow, given))
      given += Math.max(limit, 0)
      if (limit > 0) yield { backlogged, limit }
    }
  }

  /** How many deliveries of a flow may wait for a site: its share, and at least one while there are not too many flows. */
  #siteLimit(site: Site, flow: Flow): number {
    const all = this.#options.routes.single ? MAX_IN_FLIGHT : this.#perSite * WAITING_PER_CONNECTION
    const flows = site.flowsWith(flow)
    return flows > 2 * all ? 0 : Math.max(1, Math.floor(all / flows))
  }

  /**
   * Starts work on claimed deliveries. Resolves when their messages are loaded; routing continues in the background, since a slow DNS
   * server must not delay the next claim. Deliveries that cannot be started are released.
   */
  async take(claimed: readonly ClaimedDelivery[]): Promise<void> {
    const takenAt = performance.now()
    for (const delivery of claimed) this.#inFlight.take(delivery)
    try {
      const messages = await this.#options.core.messages.load([...new Set(claimed.map(({ messageId }) => messageId))])
      for (const delivery of claimed) {
        const message = messages.get(delivery.messageId)
        if (!message) {
          this.#outcomes.fault(delivery, new Error('the message of a queued delivery does not exist'))
          continue
        }
        this.#inFlight.load(message)
        const inFlight = { delivery, message, takenAt }
        this.#route(inFlight).catch((error: unknown) => this.#outcomes.fault(delivery, error, message))
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
    if (route.kind === 'failed') return this.#outcomes.finish(inFlight.delivery, route.outcome, inFlight.message)
    const site = this.#site(route.site)
    site.see(recipientDomain)
    if (this.#stopping) return this.#release([inFlight], 0)
    if (site.waitingOf(inFlight.delivery) >= this.#siteLimit(site, inFlight.delivery) || this.#stalls(site)) {
      // Leave it in the queue, where it uses no memory.
      this.#backlog.add(inFlight.delivery, site)
      return this.#release([inFlight], 1)
    }
    site.push(inFlight)
  }

  #site(name: string): Site {
    let site = this.#sites.get(name)
    if (!site) {
      if (this.#sites.size >= SITES_KEPT) this.#forgetIdleSites()
      site = new Site({
        limit: this.#perSite,
        conversations: this.#conversations,
        run: (inFlight, own) => this.#run(inFlight, own, name),
      })
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
      const waiting = site.drain()
      for (const { delivery } of waiting) this.#backlog.add(delivery, site)
      void this.#release(waiting, 1)
    }
    this.#inFlight.slow = slow
    this.#conversations.slow = slow
    if (slow > 0) this.#options.onCapacity()
  }

  /** If all mail goes to one site, there are no others that need capacity. */
  #stalls(site: Site): boolean {
    return site.isStalled && !this.#options.routes.single
  }

  #forgetIdleSites(): void {
    for (const [name, site] of this.#sites) if (site.isIdle && !this.#backlog.has(site)) this.#sites.delete(name)
  }

  async #run(inFlight: InFlightDelivery, site: Site, name: string): Promise<void> {
    try {
      const { core, config, routes, recorder, workerId } = this.#options
      const { delivery, message } = inFlight
      if (isPerishable(message.settings) && isTooLate(inFlight))
        return this.#outcomes.finish(delivery, TOO_LATE, message)
      const route = await routes.route(delivery.recipientDomain)
      // The route may have changed while the delivery waited; it is then passed to the new site.
      if (route.kind === 'failed') return this.#outcomes.finish(delivery, route.outcome, message)
      if (route.site !== name) return await this.#route(inFlight)
      if (site.isDown) return this.#outcomes.finish(delivery, siteDown(name), message)
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
      this.#outcomes.finish(delivery, outcome, message)
    } catch (error) {
      if (!isDatabaseAway(error)) return this.#outcomes.fault(inFlight.delivery, error, inFlight.message)
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
    this.#conversations.close()
  }
}
