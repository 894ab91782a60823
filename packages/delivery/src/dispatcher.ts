import {
  type ClaimedDelivery,
  type Config,
  type Core,
  DamagedBody,
  type Deferred,
  isDatabaseAway,
  type LoadedMessage,
  type Log,
  type Outcome,
  type Stage,
} from '@postrider/core'
import { deliver, type InHand } from './deliver.ts'
import { HAND_LIMIT, Hand } from './hand.ts'
import { LargeBodies } from './large-bodies.ts'
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
  /** Called whenever room has appeared. */
  readonly onRoom: () => void
}

/** Deliveries waiting for one site, per connection, above which its mail stays in the database. */
const WAITING_PER_CONNECTION = 8
/** A single destination (relay host, sandbox) gets this many times a site's connections. */
const SINGLE_FACTOR = 2
const SITES_KEPT = 20_000
/** Milliseconds between looks for sites that stall. */
const LOOK_EVERY_MS = 1000

/** Hands claimed deliveries to their sites, and their outcomes to the recorder. */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #sites = new Map<string, Site>()
  /** Sites with more mail due than fits in hand: it stays in the database and is claimed by name as room appears. */
  readonly #backlogged = new Set<Site>()
  readonly #memory = new HostMemory()
  readonly #bodies: LargeBodies
  readonly #suspects: Suspects
  readonly #hand: Hand
  readonly #perSite: number
  readonly #looking: NodeJS.Timeout
  readonly #givingBack = new Set<Promise<void>>()
  #stopping = false

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#bodies = new LargeBodies(options.core, options.routes)
    this.#suspects = new Suspects(options)
    this.#hand = new Hand(options.onRoom)
    this.#perSite = options.config.siteConnections * (options.routes.single ? SINGLE_FACTOR : 1)
    this.#looking = setInterval(() => this.#lookForStalls(), LOOK_EVERY_MS)
  }

  /** How many more deliveries may be claimed now. */
  get room(): number {
    return this.#stopping ? 0 : this.#hand.room
  }

  /** Domains whose sites have no room: to be left out of claims. */
  fullDomains(): string[] {
    return [...this.#backlogged].flatMap((site) => [...site.domains])
  }

  get isBacklogged(): boolean {
    return this.#backlogged.size > 0
  }

  /** All of this site's due mail is in hand again: it comes with everybody's. */
  caughtUp(site: Site): void {
    this.#backlogged.delete(site)
  }

  /** Sites whose mail stayed in the database and which have room again. */
  hungrySites(): { site: Site; room: number }[] {
    const limit = this.#siteLimit
    return [...this.#backlogged]
      .filter((site) => site.waiting <= limit / 2 && !this.#stalls(site))
      .map((site) => ({ site, room: limit - site.waiting }))
  }

  get #siteLimit(): number {
    return this.#options.routes.single ? HAND_LIMIT : this.#perSite * WAITING_PER_CONNECTION
  }

  /**
   * Takes claimed deliveries in hand: resolves when their messages are loaded; their sites are found behind the caller's
   * back, since a slow DNS server must not hold up the next claim. What can't be taken is given back.
   */
  async take(claimed: readonly ClaimedDelivery[]): Promise<void> {
    for (const delivery of claimed) this.#hand.take(delivery)
    try {
      const messages = await this.#options.core.messages.load([...new Set(claimed.map(({ messageId }) => messageId))])
      for (const delivery of claimed) {
        const message = messages.get(delivery.messageId)
        if (!message) {
          this.#fault(delivery, new Error('the message of a queued delivery is gone'))
          continue
        }
        this.#hand.load(message)
        const inHand = { delivery, message }
        this.#route(inHand).catch((error: unknown) => this.#fault(delivery, error, message))
      }
    } catch (error) {
      await this.#giveBack(
        claimed.map((delivery) => ({ delivery })),
        1,
      )
      throw error
    }
  }

  /**
   * Gives back what the database says this worker holds and the worker knows nothing of: a claim whose answer was lost with
   * the connection. To be called between two claims.
   */
  async reconcile(): Promise<void> {
    const { core, workerId, log } = this.#options
    await Promise.all(this.#givingBack)
    const unknown = (await core.deliveries.held(workerId)).filter((delivery) => !this.#hand.has(delivery))
    if (unknown.length === 0) return
    log.warn({ count: unknown.length }, 'giving back deliveries claimed unknowingly')
    await core.deliveries.release(workerId, unknown, 0)
  }

  async #route(inHand: InHand): Promise<void> {
    const { recipientDomain } = inHand.delivery
    const route = await this.#options.routes.route(recipientDomain)
    if (route.kind === 'failed') return this.#finish(inHand.delivery, route.outcome, inHand.message)
    const site = this.#site(route.site)
    site.see(recipientDomain)
    if (this.#stopping) return this.#giveBack([inHand], 0)
    if (site.waiting >= this.#siteLimit || this.#stalls(site)) {
      // This one waits in the database, where it costs nobody room.
      this.#backlogged.add(site)
      return this.#giveBack([inHand], 1)
    }
    site.push(inHand)
  }

  #site(name: string): Site {
    let site = this.#sites.get(name)
    if (!site) {
      if (this.#sites.size >= SITES_KEPT) this.#forgetIdleSites()
      site = new Site({ limit: this.#perSite, run: (inHand, own) => this.#run(inHand, own, name) })
      this.#sites.set(name, site)
    }
    return site
  }

  /**
   * A site whose conversations come to no end (a tarpit, a host that never greets) keeps its connections and nothing else:
   * what waits for it goes back to the database, where it takes no room from others, until one of them ends.
   */
  #lookForStalls(): void {
    let slow = 0
    for (const site of this.#sites.values()) {
      slow += site.slow
      if (site.waiting === 0 || !this.#stalls(site)) continue
      this.#backlogged.add(site)
      void this.#giveBack(site.drain(), 1)
    }
    this.#hand.slow = slow
    if (slow > 0) this.#options.onRoom()
  }

  /** Where all mail goes to one site there are no others to make room for. */
  #stalls(site: Site): boolean {
    return site.isStalled && !this.#options.routes.single
  }

  #forgetIdleSites(): void {
    for (const [name, site] of this.#sites) if (site.isIdle && !this.#backlogged.has(site)) this.#sites.delete(name)
  }

  async #run(inHand: InHand, site: Site, name: string): Promise<void> {
    try {
      const { core, config, routes, recorder, workerId } = this.#options
      const { delivery, message } = inHand
      const route = await routes.route(delivery.recipientDomain)
      // The hosts may have changed while it waited; then it goes to the site it belongs to now.
      if (route.kind === 'failed') return this.#finish(delivery, route.outcome, message)
      if (route.site !== name) return await this.#route(inHand)
      if (site.isDown) return this.#finish(delivery, siteDown(name), message)
      const outcome = await deliver(inHand, {
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
        markDot: (own, host) => recorder.markDot({ ...own, workerId, host, domainId: message.domainId }),
      })
      // A delivery held to one host says nothing about the others.
      if (outcome && outcome.kind !== 'dropped' && delivery.onlyHost === null) site.heard(beginningOf(outcome))
      this.#finish(delivery, outcome, message)
    } catch (error) {
      if (!isDatabaseAway(error)) return this.#fault(inHand.delivery, error, inHand.message)
      // Nothing was offered to anybody: a note of a final dot that fails is an outcome, and no error. Other trouble may be this
      // message's own, and must come to an end.
      const { messageId, recipientNo } = inHand.delivery
      this.#options.log.warn({ err: error, messageId, recipientNo }, 'given back untried: the database is away')
      await this.#giveBack([inHand], 1)
    }
  }

  /** We are wrong, or something unknown happened: temporary, told in the log, tried again. */
  #fault(delivery: ClaimedDelivery, error: unknown, message?: LoadedMessage): void {
    const { messageId, recipientNo, attempt } = delivery
    this.#options.log.error({ err: error, messageId, recipientNo, attempt }, 'fault in delivery')
    this.#finish(delivery, error instanceof DamagedBody ? damaged(error) : fault, message)
  }

  /**
   * Records an outcome; undefined means that the lease is gone and there is nothing to say. Nobody waits for it: the lane
   * goes on with the next delivery while this one's outcome is written.
   */
  #finish(
    delivery: ClaimedDelivery,
    outcome: Outcome | undefined,
    message: LoadedMessage | undefined,
    again = false,
  ): void {
    if (!outcome) {
      this.#hand.letGo(delivery, message)
      return
    }
    const { recorder, workerId, log } = this.#options
    const { messageId, recipientNo, attempt } = delivery
    recorder.record({ messageId, recipientNo, attempt, workerId, outcome }).then(
      (taken) => {
        if (!taken) log.warn({ messageId, recipientNo, attempt }, 'a stale result was refused')
        else log.info({ messageId, recipientNo, attempt, ...summary(outcome) }, outcome.kind)
        this.#hand.letGo(delivery, message)
      },
      (err: unknown) => {
        log.error({ err, messageId, recipientNo, attempt }, 'a result could not be recorded')
        // Once more with nothing in it that the database could refuse. If that fails too it stays in hand: given back it would
        // be sent again at once. With this worker's end its lease ends, and the note of its final dot says what is known.
        if (!again) this.#finish(delivery, unrecordable(outcome), message, true)
      },
    )
  }

  async #giveBack(
    inHand: readonly { delivery: ClaimedDelivery; message?: LoadedMessage }[],
    seconds: number,
  ): Promise<void> {
    const { core, workerId, log } = this.#options
    const deliveries = inHand.map(({ delivery }) => delivery)
    // Before the database knows, since right after it this worker may claim them again, under the same attempt number. What
    // the database did not take back, reconcile() gives back.
    for (const { delivery, message } of inHand) this.#hand.letGo(delivery, message)
    const giving = core.deliveries
      .release(workerId, deliveries, seconds)
      .catch((err) => log.warn({ err }, 'deliveries could not be given back now'))
    this.#givingBack.add(giving)
    await giving
    this.#givingBack.delete(giving)
  }

  /**
   * Takes nothing more, gives back what hasn't been started, and resolves when the rest is done, or after `patience`
   * milliseconds; what is still under way then is taken over by others.
   */
  async drain(patience: number): Promise<void> {
    this.#stopping = true
    clearInterval(this.#looking)
    const deadline = performance.now() + patience
    const unstarted = [...this.#sites.values()].flatMap((site) => site.drain())
    if (unstarted.length > 0) await this.#giveBack(unstarted, 0)
    while (this.#hand.count > 0 && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20))
    for (const site of this.#sites.values()) site.close()
  }
}

/** How far the last host of the site let us come. */
function beginningOf({ stage }: { stage: Stage }): 'unreachable' | 'refused' | 'session' {
  if (stage === 'connect') return 'unreachable'
  return SESSION_STAGES.has(stage) ? 'refused' : 'session'
}

/** Before mail was offered. */
const SESSION_STAGES: ReadonlySet<Stage> = new Set(['greeting', 'ehlo', 'starttls', 'tls', 'auth'])

const fault: Deferred = {
  kind: 'deferred',
  indeterminate: false,
  stage: 'mx',
  reply: { code: 451, enhanced: '4.3.0', text: 'internal error of this service' },
  steps: [],
  milliseconds: 0,
}

/** Tried again: whoever restores the body in time has it delivered. */
function damaged({ message }: DamagedBody): Deferred {
  return { ...fault, reply: { ...fault.reply, text: message } }
}

/** What is left to say when an outcome can't be written: the message may have been taken, if the final dot was sent. */
function unrecordable(outcome: Outcome): Deferred {
  if (outcome.kind === 'dropped' || outcome.stage !== 'dot' || outcome.host === undefined) return fault
  return { ...fault, indeterminate: true, stage: 'dot', host: outcome.host }
}

function siteDown(name: string): Outcome {
  const reply = { code: 0, enhanced: '4.4.1', text: 'the hosts could not be reached a moment ago' }
  const steps = [{ step: 'connect', ms: 0, text: reply.text }]
  return {
    kind: 'deferred',
    indeterminate: false,
    stage: 'connect',
    reply,
    host: name.split(' ')[0] ?? name,
    steps,
    milliseconds: 0,
  }
}

function summary(outcome: Outcome): Record<string, unknown> {
  if (outcome.kind === 'dropped') return { reason: outcome.reason }
  const { stage, host, reply, milliseconds } = outcome
  return { stage, host, code: reply.code, milliseconds }
}
