import type { ClaimedDelivery, Core, DeliveryKey, Log } from '@postrider/core'

/**
 * Deliveries that were in progress when a worker died: any of them may have caused that. Their messages are built one at a time, each
 * recorded before, so that the next death identifies the cause; their conversations run concurrently, like all others. Without deaths
 * this costs nothing.
 */
export class Suspects {
  readonly #core: Core
  readonly #log: Log
  readonly #workerId: number
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #noted: DeliveryKey | undefined

  constructor({ core, log, workerId }: { core: Core; log: Log; workerId: number }) {
    this.#core = core
    this.#log = log
    this.#workerId = workerId
  }

  /** Runs `write`, alone if the delivery is suspected. Throws what `write` throws. */
  async write<T>(delivery: ClaimedDelivery, write: () => Promise<T>): Promise<T> {
    if (delivery.abandoned === 0) return write()
    this.#waiting++
    const turn = this.#last.then(async () => {
      await this.#note(delivery)
      try {
        return await write()
      } finally {
        // The next one replaces this record with its own.
        if (--this.#waiting === 0) await this.#note(undefined)
      }
    })
    this.#last = turn.catch(() => {})
    return turn
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
