import {
  type Core,
  type DeliveryClass,
  isDatabaseTrouble,
  type Log,
  type OpenSmartHost,
  type Rate,
  type SmartHostUse,
  smartHostOf,
  smartHostPlace,
} from '@postrider/core'
import { createRefresher } from '../queue/refresher.ts'
import { type Routes, relayRoutes } from './routes.ts'

/** Milliseconds between two reads; a notification causes one at once. */
const READ_EVERY_MS = 10_000
const DAY = 86_400

export interface SmartHostsOptions {
  readonly core: Core
  readonly log: Log
  /** Called when smart hosts, and with them their daily limits, have changed. */
  readonly onChanged: () => void
}

interface Known {
  readonly smartHost: OpenSmartHost
  readonly routes: Routes
}

/** The relay hosts that deliver what the usual way cannot. */
export class SmartHosts {
  readonly #options: SmartHostsOptions
  #byName = new Map<string, Known>()
  /** As a text, to see whether they have changed. */
  #known = '[]'
  readonly #timer: NodeJS.Timeout
  #listening: { close(): Promise<void> } | undefined

  constructor(options: SmartHostsOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.#read(), READ_EVERY_MS)
  }

  async start(): Promise<void> {
    await this.#read()
    this.#listening = await this.#options.core.deliveries.limits.listen(() => void this.#read())
  }

  get isEmpty(): boolean {
    return this.#byName.size === 0
  }

  /** The places of those that are used in this situation for mail of this class. */
  *placesFor(use: SmartHostUse, of: DeliveryClass): Generator<string> {
    for (const { smartHost } of this.#byName.values()) {
      const { name, usedFor, classes } = smartHost
      if (usedFor.includes(use) && (classes === null || classes.includes(of))) yield smartHostPlace(name)
    }
  }

  /** The place of the smart host with this host name. */
  placeWithHost(host: string): string | undefined {
    for (const { smartHost } of this.#byName.values())
      if (smartHost.host === host) return smartHostPlace(smartHost.name)
    return undefined
  }

  /** The routes of a place; undefined if it is not a smart host, or one that was removed. */
  routesOf(place: string): Routes | undefined {
    return this.#byName.get(smartHostOf(place) ?? '')?.routes
  }

  /** The messages that may be sent to a place per day; nothing if there is no limit. */
  allowancesOf(place: string): Rate[] {
    const { id, dailyCap = null } = this.#byName.get(smartHostOf(place) ?? '')?.smartHost ?? {}
    if (dailyCap === null) return []
    return [{ name: `smart host ${id}`, what: 'messages to a smart host per day', limit: dailyCap, seconds: DAY }]
  }

  readonly #read = createRefresher(async () => {
    const { core, log, onChanged } = this.#options
    try {
      const all = await core.sources.smartHosts()
      const text = JSON.stringify(all)
      if (text === this.#known) return
      this.#known = text
      this.#byName = new Map(
        all.map((smartHost) => {
          const routes = relayRoutes(smartHost.relay, smartHostPlace(smartHost.name))
          return [smartHost.name, { smartHost, routes }]
        }),
      )
      log.info({ smartHosts: [...this.#byName.keys()] }, 'smart hosts changed')
      onChanged()
    } catch (err) {
      if (!isDatabaseTrouble(err)) log.error({ err }, 'could not read the smart hosts')
    }
  })

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#listening?.close().catch(() => {})
  }
}
