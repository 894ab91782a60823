import {
  type Core,
  count,
  effectiveLimits,
  isDatabaseTrouble,
  type Log,
  measure,
  type NewOverride,
  type Override,
  overridesFor,
  type PlaceLimits,
  type Providers,
  partsOfPlace,
  type Rate,
} from '@postrider/core'
import { createRefresher } from '../common/refresher.ts'
import type { SmartHosts } from '../routing/smart-hosts.ts'
import type { WorkerSources } from '../routing/worker-sources.ts'

/** Milliseconds between two reads of the overrides; a notification causes one at once. */
const READ_EVERY_MS = 1000

/** The limits of a destination for this worker. */
export interface WorkerLimits extends PlaceLimits {
  /** The allowances of a source that is warmed up. */
  readonly warmUp: readonly Rate[]
  /** The daily limit of a smart host. */
  readonly perDay: readonly Rate[]
}

export interface LimitsOptions {
  readonly core: Core
  readonly log: Log
  readonly providers: Providers
  /** Connections to a site that belongs to none of the providers, or to a provider without a limit. */
  readonly siteConnections: number
  readonly sources: WorkerSources
  readonly smartHosts: SmartHosts
  /** Called with the names of the destinations whose limits may have changed. */
  readonly onChanged: (destinations: ReadonlySet<string>) => void
  /** Called with each pause during which a delivery may be tried now. */
  readonly onProbeDue: (pause: Override) => void
}

/** The limits of all destinations: those of the providers' file and the overrides in the database, which are the same for all workers. */
export class Limits {
  readonly #options: LimitsOptions
  #overrides = new Map<string, Override[]>()
  #isRaising = false
  readonly #names: readonly string[]
  readonly #timer: NodeJS.Timeout
  readonly #forgetGauge: () => void
  #listening: { close(): Promise<void> } | undefined

  constructor(options: LimitsOptions) {
    this.#options = options
    this.#names = options.providers.all.map(({ name }) => name)
    this.#timer = setInterval(() => void this.read(), READ_EVERY_MS)
    this.#forgetGauge = measure(() => ({ pauses: this.#pauses() }))
  }

  of(destination: string): WorkerLimits {
    const { providers, siteConnections, sources, smartHosts } = this.#options
    const limits = effectiveLimits({
      provider: providers.named(partsOfPlace(destination).base),
      siteConnections,
      overrides: this.overridesOf(destination),
    })
    return { ...limits, warmUp: sources.warmUpOf(destination), perDay: smartHosts.allowancesOf(destination) }
  }

  overridesOf(destination: string): readonly Override[] {
    return overridesFor(destination, this.#overrides)
  }

  /** Sets an override of a destination for all workers, which is in effect here when this resolves. */
  async apply(
    destination: { readonly name: string; readonly base: string },
    override: Omit<NewOverride, 'place'>,
  ): Promise<void> {
    const { core, providers } = this.#options
    await core.deliveries.limits.set({ ...override, place: destination.name })
    count('back_offs_total', {
      provider: providers.named(destination.base)?.name ?? 'other',
      setting: override.setting,
    })
    await this.read()
  }

  /** Does something about limits; that it failed is logged, unless the database is in trouble, which is known. */
  async try(act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch (err) {
      if (!isDatabaseTrouble(err)) this.#options.log.error({ err }, 'could not apply a limit of a destination')
    }
  }

  /** Reads the overrides: those that are there when it is called are in effect when it resolves. */
  readonly read = createRefresher(() => this.#read())

  async #read(): Promise<void> {
    const { core, log, onChanged, onProbeDue } = this.#options
    try {
      const overrides = await core.deliveries.limits.overrides(this.#names)
      const before = this.#overrides
      this.#overrides = Map.groupBy(overrides, ({ place: destination }) => destination)
      onChanged(new Set([...before.keys(), ...this.#overrides.keys()]))
      for (const one of overrides) if (one.stepDue && one.setting === 'pause') onProbeDue(one)
      if (overrides.some((one) => one.stepDue && one.setting !== 'pause')) void this.#raise()
    } catch (err) {
      if (!isDatabaseTrouble(err)) log.error({ err }, 'could not read the limits')
    }
  }

  /** Pauses in force by provider. */
  #pauses(): Map<string, number> {
    const pauses = new Map<string, number>([...this.#names, 'other'].map((name) => [name, 0]))
    for (const [destination, overrides] of this.#overrides) {
      const name = this.#options.providers.named(partsOfPlace(destination).base)?.name ?? 'other'
      const paused = overrides.filter(({ setting }) => setting === 'pause').length
      pauses.set(name, (pauses.get(name) ?? 0) + paused)
    }
    return pauses
  }

  /** Not part of a read, which others wait for. */
  async #raise(): Promise<void> {
    if (this.#isRaising) return
    this.#isRaising = true
    await this.#options.core.deliveries.limits.raise().catch(() => {})
    this.#isRaising = false
  }

  async listen(): Promise<void> {
    this.#listening = await this.#options.core.deliveries.limits.listen(() => void this.read())
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#forgetGauge()
    await this.#listening?.close().catch(() => {})
  }
}
