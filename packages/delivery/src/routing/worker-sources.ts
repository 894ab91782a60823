import { isIP } from 'node:net'
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import {
  type ClaimedDelivery,
  type Core,
  chooseSource,
  type Egress,
  hasSource,
  isDatabaseTrouble,
  type LoadedMessage,
  type Log,
  NetworkList,
  OTHER_PROVIDERS,
  type Providers,
  partsOfPlace,
  type Rate,
  type Reply,
  type Source,
  sourcedPlace,
  type WarmUpKey,
  type WarmUpPlan,
  warmUpRates,
} from '@postrider/core'
import { createRefresher } from '../common/refresher.ts'
import { WarmUps } from './warm-ups.ts'

/** Milliseconds between two reads of the sources; a notification causes one at once. */
const READ_EVERY_MS = 5000
/** Reads between two registrations of this worker's sources, in case the rows were lost. */
const REGISTER_EVERY = 12

export interface WorkerSourcesOptions {
  readonly core: Core
  readonly log: Log
  readonly workerId: number
  readonly providers: Providers
  /** Called when sources, pools or rules have changed. */
  readonly onChanged: () => void
}

/** Where a delivery is sent from, and whether this worker can do that. */
export interface SourceRoute {
  /** The provider or site, with the source. */
  readonly destination: string
  /** Undefined if the operating system chooses the address. */
  readonly source: Source | undefined
  /** False if another worker has the source, or if the source cannot send now. */
  readonly isHere: boolean
  /** Why no source can send it now; undefined if one can, perhaps that of another worker. */
  readonly waitingFor?: 'warm-up' | 'source'
}

/**
 * How this worker treats parked mail of a destination: `here`, it delivers it; `elsewhere`, workers that have the source do; `move`, the source
 * cannot send, but others can; `wait`, none can.
 */
export type Responsibility = 'here' | 'elsewhere' | 'move' | 'wait'

const NONE: Egress = { sources: [], pools: [], rules: [] }

/** The source addresses, and which of them this worker's host has. */
export class WorkerSources {
  readonly #options: WorkerSourcesOptions
  #egress: Egress = NONE
  /** As a text, to see whether it has changed. */
  #known = ''
  #byName = new Map<string, Source>()
  #hasIpv6Only = false
  /** Ids of the sources whose addresses this host has, and of those that the database knows it has. */
  #own = new Set<number>()
  #registered = new Set<number>()
  #reads = 0
  #isLeaving = false
  readonly #warmUps: WarmUps
  readonly #timer: NodeJS.Timeout
  #listening: { close(): Promise<void> } | undefined

  constructor(options: WorkerSourcesOptions) {
    this.#options = options
    this.#warmUps = new WarmUps(options)
    this.#timer = setInterval(() => void this.#read(), READ_EVERY_MS)
  }

  /** Reads the sources, and reads them again whenever they change. */
  async start(): Promise<void> {
    await this.#read()
    this.#listening = await this.#options.core.deliveries.limits.listen(() => void this.#read())
  }

  /** Whether the choice depends on the IP versions of the recipient's hosts: a source has no IPv4 address. */
  get needVersions(): boolean {
    return this.#hasIpv6Only
  }

  /**
   * The source of a delivery to a provider or site. The same for every attempt, as long as it can send. `versions`: the IP versions of the hosts,
   * if they are needed. If no source can reach them, the one that is chosen says so.
   */
  choose(
    { delivery, message }: { delivery: ClaimedDelivery; message: LoadedMessage },
    base: string,
    versions?: ReadonlySet<number>,
  ): SourceRoute {
    if (this.#egress.sources.length === 0) return { destination: base, source: undefined, isHere: true }
    const mail = { ...delivery, domainId: message.domainId, tags: message.tags, poolName: message.settings.pool }
    const choose = (mayUse: (source: Source) => boolean) =>
      chooseSource(this.#egress, mail, (source) => this.#canSend(source, base) && mayUse(source))
    const reaching = versions && choose((source) => addressesOf(source).some((address) => versions.has(isIP(address))))
    const choice = reaching?.canSend ? reaching : choose(() => true)
    if (!choice) return { destination: base, source: undefined, isHere: true }
    const { source, canSend } = choice
    const destination = sourcedPlace({ base, source: source.name })
    if (canSend) return { destination, source, isHere: this.#own.has(source.id) }
    return { destination, source, isHere: false, waitingFor: this.#isUsable(source) ? 'warm-up' : 'source' }
  }

  /** Whether this host still has a source that could not be used; if not, all workers learn of it. */
  stillHas(source: Source): boolean {
    if (hasAll(localAddresses(), source)) return true
    this.#own.delete(source.id)
    void this.#read()
    return false
  }

  of(destination: string): Responsibility {
    const { base, source: name } = partsOfPlace(destination)
    if (name === undefined) return 'here'
    const source = this.#byName.get(name)
    if (!source) return 'move'
    if (this.#canSend(source, base)) return this.#own.has(source.id) ? 'here' : 'elsewhere'
    return hasSource(this.#egress, source.poolId, (one) => this.#canSend(one, base)) ? 'move' : 'wait'
  }

  #canSend(source: Source, base: string): boolean {
    return this.#isUsable(source) && !this.#isSpent(source, base)
  }

  #isUsable(source: Source): boolean {
    return !source.isPaused && (source.workers > 0 || this.#own.has(source.id))
  }

  #isSpent(source: Source, base: string): boolean {
    if (source.warmUpPlan === null) return false
    const key = { sourceId: source.id, provider: this.#providerOf(base) }
    const isKnown = source.warmUps.some(({ provider, isSpent }) => provider === key.provider && isSpent)
    return isKnown || this.#warmUps.isSpent(key)
  }

  /** The allowances of the source of a destination; none if it is not warmed up there. */
  warmUpOf(destination: string): Rate[] {
    const warmedUp = this.#warmedUp(destination)
    if (!warmedUp) return []
    const { key, plan, source } = warmedUp
    return warmUpRates(key, plan, source.warmUps.find(({ provider }) => provider === key.provider)?.day ?? 0)
  }

  /** The allowance of the source of a destination is used up for some seconds. */
  noteSpent(destination: string, seconds: number): void {
    const key = this.#warmedUp(destination)?.key
    if (key) this.#warmUps.noteSpent(key, seconds)
  }

  /** A back-off rule paused a destination. */
  noteBlocked(destination: string): void {
    const key = this.#warmedUp(destination)?.key
    if (key) this.#warmUps.noteBlocked(key)
  }

  /** A server of a destination replied to a delivery. See {@link WarmUps.noteReply}. */
  noteReply(destination: string, reply: Reply, isRefused: boolean): void {
    const key = this.#warmedUp(destination)?.key
    if (key) this.#warmUps.noteReply(key, reply, isRefused)
  }

  #warmedUp(
    destination: string,
  ): { readonly key: WarmUpKey; readonly plan: WarmUpPlan; readonly source: Source } | undefined {
    const { base, source: name } = partsOfPlace(destination)
    const source = name === undefined ? undefined : this.#byName.get(name)
    if (!source?.warmUpPlan) return undefined
    return { key: { sourceId: source.id, provider: this.#providerOf(base) }, plan: source.warmUpPlan, source }
  }

  #providerOf(base: string): string {
    return this.#options.providers.named(base) ? base : OTHER_PROVIDERS
  }

  readonly #read = createRefresher(() => this.#refresh())

  async #refresh(): Promise<void> {
    const { core, log, onChanged } = this.#options
    try {
      const egress = await core.sources.read()
      const text = JSON.stringify(egress)
      await this.#register(egress)
      if (text === this.#known) return
      this.#known = text
      this.#egress = egress
      this.#hasIpv6Only = egress.sources.some((source) => isIP(source.address) === 6)
      this.#byName = new Map(egress.sources.map((source) => [source.name, source]))
      onChanged()
    } catch (err) {
      if (!isDatabaseTrouble(err)) log.error({ err }, 'could not read the source addresses')
    }
  }

  async #register({ sources }: Egress): Promise<void> {
    const { core, log, workerId } = this.#options
    const local = localAddresses()
    const own = sources.filter((source) => hasAll(local, source))
    // A worker that leaves ends what it has begun, from its own sources.
    this.#own = new Set(own.map(({ id }) => id))
    const offered = this.#isLeaving ? [] : own
    const isSame = offered.length === this.#registered.size && offered.every(({ id }) => this.#registered.has(id))
    if (isSame && (offered.length === 0 || ++this.#reads % REGISTER_EVERY !== 0)) return
    await core.sources.register(
      workerId,
      offered.map(({ id }) => id),
    )
    this.#registered = new Set(offered.map(({ id }) => id))
    if (!isSame) log.info({ sources: offered.map(({ name }) => name) }, 'source addresses of this host')
  }

  /** This worker takes no more mail: that of its sources is sent from others of their pools, unless another worker has them. */
  async leave(): Promise<void> {
    this.#isLeaving = true
    await this.#read()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#warmUps.flush()
    await this.#listening?.close().catch(() => {})
  }
}

/** The local addresses that connections of a source begin at. */
export function addressesOf({ address, address6, bind }: Source): string[] {
  return [bind ?? address, ...(address6 === null ? [] : [address6])]
}

/** The address of a source that receivers with this address see. */
export function addressSeenAt({ address, address6 }: Source, receiver: string): string | undefined {
  return [address, address6].find((own) => own !== null && isIP(own) === isIP(receiver)) ?? undefined
}

function hasAll(local: NetworkList, source: Source): boolean {
  return addressesOf(source).every((address) => local.has(address))
}

/** The addresses of this host. On Linux, all of 127.0.0.0/8 are. */
function localAddresses(): NetworkList {
  const all = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses)
  const isRange = ({ internal, family }: NetworkInterfaceInfo): boolean =>
    process.platform === 'linux' && internal && family === 'IPv4'
  return new NetworkList(
    all.flatMap((one) => (isRange(one) ? (one.cidr ?? one.address) : (one.address.split('%')[0] ?? []))),
  )
}
