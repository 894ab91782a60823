import {
  BULK,
  type ClaimedDelivery,
  type Core,
  domainOfPlace,
  type Flow,
  HELD_ONE_CLICK_PLACE,
  hasOneClick,
  heldDomainPlace,
  isDatabaseTrouble,
  type LoadedMessage,
  type Log,
} from '@postrider/core'
import { createRefresher } from '../common/refresher.ts'

/** Milliseconds between two reads; a notification of a domain causes one at once. */
const READ_EVERY_MS = 5000

export interface RequirementHoldsOptions {
  readonly core: Core
  readonly log: Log
}

/** Which bulk mail waits because it lacks what large receivers demand (core/reputation/guard). */
export class RequirementHolds {
  readonly #options: RequirementHoldsOptions
  readonly #timer: NodeJS.Timeout
  #byDefault = false
  #exceptions: ReadonlySet<number> = new Set()
  /** The names of domains by their ids. */
  #lacking: ReadonlyMap<number, string> = new Map()
  #names: ReadonlySet<string> = new Set()

  constructor(options: RequirementHoldsOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.read(), READ_EVERY_MS)
  }

  /** Whether no account holds such mail. */
  get isEmpty(): boolean {
    return !this.#byDefault && this.#exceptions.size === 0
  }

  /** Where a delivery waits; undefined if it need not. */
  heldAt({ accountId, class: of }: ClaimedDelivery, { domainId, settings }: LoadedMessage): string | undefined {
    if (of !== BULK || !this.#holdsMailOf(accountId)) return undefined
    const lacking = this.#lacking.get(domainId)
    if (lacking !== undefined) return heldDomainPlace(lacking)
    return hasOneClick(settings) ? undefined : HELD_ONE_CLICK_PLACE
  }

  /** Whether mail of the flow that is parked at this place still waits; undefined if the place is of another hold. */
  isHeld({ accountId }: Flow, place: string): boolean | undefined {
    if (place === HELD_ONE_CLICK_PLACE) return this.#holdsMailOf(accountId)
    const domain = domainOfPlace(place)
    return domain === undefined ? undefined : this.#holdsMailOf(accountId) && this.#names.has(domain)
  }

  #holdsMailOf(accountId: number): boolean {
    return this.#byDefault !== this.#exceptions.has(accountId)
  }

  /** Those that are there when it is called are in effect when it resolves. */
  readonly read = createRefresher(() => this.#read())

  async #read(): Promise<void> {
    const { core, log } = this.#options
    try {
      const { byDefault, exceptions, lacking } = await core.deliveries.limits.requirementHolds()
      this.#byDefault = byDefault
      this.#exceptions = new Set(exceptions)
      this.#lacking = new Map(lacking.map(({ id, name }) => [id, name]))
      this.#names = new Set(this.#lacking.values())
    } catch (err) {
      if (!isDatabaseTrouble(err)) log.error({ err }, 'could not read which domains lack what large receivers demand')
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
