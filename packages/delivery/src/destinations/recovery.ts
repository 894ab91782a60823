import { type Core, isDatabaseTrouble, type Log, partsOfPlace } from '@postrider/core'
import type { Beginning } from './site-health.ts'

/** Milliseconds between two statements. */
const WAKE_EVERY_MS = 1000
/** Deliveries woken per message that a site took in the last interval, and at least: their number grows while the site takes them. */
const PACE = { perTaken: 2, least: 5, most: 500 } as const
/** Milliseconds between two looks for the index. */
const LOOK_EVERY_MS = 60_000

interface Seen {
  taken: number
  hasFailed: boolean
}

/**
 * Wakes mail for sites whose hosts were away or refused sessions, when one of them takes mail again: as schedules of retries go, it would wait for
 * hours. Of providers with many sites, one that takes mail says nothing of the others.
 */
export class Recovery {
  readonly #options: { readonly core: Core; readonly log: Log }
  #seen = new Map<string, Seen>()
  #waking: NodeJS.Timeout | undefined
  #lookAgainAt: number | undefined = 0

  constructor(options: { readonly core: Core; readonly log: Log }) {
    this.#options = options
  }

  /** A conversation with the destination began like this. */
  note(destination: string, beginning: Beginning): void {
    if (!partsOfPlace(destination).base.includes('.')) return
    const seen = this.#seen.get(destination) ?? { taken: 0, hasFailed: false }
    if (beginning === 'session') seen.taken++
    else seen.hasFailed = true
    this.#seen.set(destination, seen)
    this.#waking ??= setTimeout(() => void this.#wake(), WAKE_EVERY_MS)
  }

  async #wake(): Promise<void> {
    const { core, log } = this.#options
    this.#waking = undefined
    const reached = [...this.#seen]
      // A host that takes few connections refuses others at the same time.
      .filter(([, { taken, hasFailed }]) => taken > 0 && !hasFailed)
      .map(([place, { taken }]) => ({
        place,
        most: Math.min(Math.max(taken * PACE.perTaken, PACE.least), PACE.most),
      }))
    this.#seen = new Map()
    if (reached.length === 0) return
    try {
      if (await this.#isIndexed()) await core.deliveries.wakeUnreached(reached)
    } catch (err) {
      if (!isDatabaseTrouble(err)) log.error({ err }, 'could not wake mail for a site that takes mail again')
    }
  }

  async #isIndexed(): Promise<boolean> {
    if (this.#lookAgainAt === undefined) return true
    if (performance.now() < this.#lookAgainAt) return false
    this.#lookAgainAt = performance.now() + LOOK_EVERY_MS
    if (!(await this.#options.core.deliveries.isUnreachedIndexed())) return false
    this.#lookAgainAt = undefined
    return true
  }

  close(): void {
    clearTimeout(this.#waking)
  }
}
