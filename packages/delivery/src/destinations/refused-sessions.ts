import { type Core, isDatabaseTrouble, type Log, type Outcome, Tally } from '@postrider/core'
import type { Destination } from './destination.ts'
import { beginningOf } from './site-health.ts'

/** Sessions that a site refuses in a row, all others being those of other workers or sites, after which it takes none. */
const MAX_IN_A_ROW = 20
/** Maximum number of sites remembered. */
const MAX_SITES = 1000

/** Lowers the limits of connections of destinations that refuse sessions beside others. */
export class RefusedSessions {
  readonly #options: { readonly core: Core; readonly log: Log; readonly workerId: number }
  /** By destination, the refused sessions that are still counted as conversations in progress. */
  readonly #refused = new Tally<string>()
  readonly #inARow = new Map<string, number>()

  constructor(options: { readonly core: Core; readonly log: Log; readonly workerId: number }) {
    this.#options = options
  }

  /** Whether a session was refused for now while there were others with the destination, of this worker or another. */
  async isTooMany(destination: Destination, site: string, outcome: Outcome): Promise<boolean> {
    if (outcome.kind === 'dropped' || beginningOf(outcome) !== 'refused' || outcome.reply.code >= 500) {
      this.#inARow.delete(site)
      return false
    }
    const { core, log, workerId } = this.#options
    const { name: place } = destination
    if (this.#anotherOf(site) > MAX_IN_A_ROW) return false
    this.#refused.add(place, 1)
    try {
      const others = Math.max(0, destination.progress.count - this.#refused.of(place))
      return await core.deliveries.limits.lowerConnections({ place, workerId, others, reason: outcome.reply.text })
    } catch (err) {
      if (!isDatabaseTrouble(err)) log.error({ err }, 'could not lower the limit of connections')
      return false
    } finally {
      this.#refused.add(place, -1)
    }
  }

  #anotherOf(site: string): number {
    const inARow = (this.#inARow.get(site) ?? 0) + 1
    this.#inARow.delete(site)
    this.#inARow.set(site, inARow)
    if (this.#inARow.size > MAX_SITES) this.#inARow.delete(this.#inARow.keys().next().value as string)
    return inARow
  }
}
