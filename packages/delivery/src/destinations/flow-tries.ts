import { type Core, type Flow, type FlowProgress, isDatabaseTrouble, type Log } from '@postrider/core'
import { flowKey } from '../common/fair-queue.ts'

/** Milliseconds between two statements. */
const FLUSH_EVERY_MS = 2000

/** Counts how many deliveries of each flow are tried at the destinations where it has parked mail, so that it is known when the rest is tried. */
export class FlowTries {
  readonly #options: { readonly core: Core; readonly log: Log }
  #tried = new Map<string, FlowProgress>()
  #flushing: NodeJS.Timeout | undefined

  constructor(options: { readonly core: Core; readonly log: Log }) {
    this.#options = options
  }

  add({ accountId, class: of }: Flow, destination: string): void {
    const key = `${flowKey({ accountId, class: of })} ${destination}`
    const tried = (this.#tried.get(key)?.tried ?? 0) + 1
    this.#tried.set(key, { place: destination, accountId, class: of, tried })
    this.#flushing ??= setTimeout(() => void this.flush(), FLUSH_EVERY_MS)
  }

  async flush(): Promise<void> {
    clearTimeout(this.#flushing)
    this.#flushing = undefined
    const progress = [...this.#tried.values()]
    this.#tried = new Map()
    try {
      await this.#options.core.deliveries.addProgress(progress)
    } catch (err) {
      if (!isDatabaseTrouble(err)) this.#options.log.error({ err }, 'could not record how fast mail is tried')
    }
  }
}
