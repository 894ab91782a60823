import type { ClaimedDelivery, Core, DeliveryKey, Flow, Log } from '@postrider/core'
import { FairQueue } from './fair-queue.ts'

/**
 * Deliveries that were in progress when a worker died: any of them may have caused that. Their messages are built one at a time, each
 * recorded before, so that the next death identifies the cause; flows take turns. Their conversations run concurrently, like all others.
 * Without deaths this costs nothing.
 */
export class Suspects {
  readonly #core: Core
  readonly #log: Log
  readonly #workerId: number
  readonly #waiting = new FairQueue<() => void>()
  #isBuilding = false
  #noted: DeliveryKey | undefined

  constructor({ core, log, workerId }: { core: Core; log: Log; workerId: number }) {
    this.#core = core
    this.#log = log
    this.#workerId = workerId
  }

  /** Runs `write`, alone if the delivery is suspected. Throws what `write` throws. */
  async write<T>(delivery: ClaimedDelivery, write: () => Promise<T>): Promise<T> {
    if (delivery.abandoned === 0) return write()
    await this.#turnOf(delivery)
    try {
      await this.#note(delivery)
      return await write()
    } finally {
      // The next one replaces this record with its own.
      if (this.#waiting.length === 0) await this.#note(undefined)
      const begin = this.#waiting.shift(() => true)
      this.#isBuilding = begin !== undefined
      begin?.()
    }
  }

  /** Resolves when the flow's next message may be built. */
  async #turnOf(flow: Flow): Promise<void> {
    if (this.#isBuilding) return new Promise((begin) => this.#waiting.push(flow, begin))
    this.#isBuilding = true
  }

  /** If recording fails, the message is built anyway: an unavailable database says nothing about the message. */
  async #note(now: DeliveryKey | undefined): Promise<void> {
    const before = this.#noted
    this.#noted = now
    await this.#core.deliveries.noteAlone(this.#workerId, now, before).catch((err: unknown) => {
      this.#log.warn({ err }, 'could not record the delivery being built')
    })
  }
}
