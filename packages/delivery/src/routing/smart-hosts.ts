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
import { createRefresher } from '../common/refresher.ts'
import { type NextHops, relayNextHops } from './next-hops.ts'

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
  readonly nextHops: NextHops
}

/** The relay hosts that deliver what the usual route cannot. */
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

  /** The destinations of those that are used in this situation for mail of this class. */
  *destinationsFor(use: SmartHostUse, of: DeliveryClass): Generator<string> {
    for (const { smartHost } of this.#byName.values()) {
      const { name, usedFor, classes } = smartHost
      if (usedFor.includes(use) && (classes === null || classes.includes(of))) yield smartHostPlace(name)
    }
  }

  /** The destination of the smart host with this host name. */
  destinationWithHost(host: string): string | undefined {
    for (const { smartHost } of this.#byName.values())
      if (smartHost.host === host) return smartHostPlace(smartHost.name)
    return undefined
  }

  /** The next hops of a destination; undefined if it is not a smart host, or one that was removed. */
  nextHopsOf(destination: string): NextHops | undefined {
    return this.#byName.get(smartHostOf(destination) ?? '')?.nextHops
  }

  /** The messages that may be sent to a destination per day; nothing if there is no limit. */
  allowancesOf(destination: string): Rate[] {
    const { id, dailyCap = null } = this.#byName.get(smartHostOf(destination) ?? '')?.smartHost ?? {}
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
          const nextHops = relayNextHops(smartHost.relay, smartHostPlace(smartHost.name))
          return [smartHost.name, { smartHost, nextHops }]
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
