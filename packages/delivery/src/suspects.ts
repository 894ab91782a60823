import type { ClaimedDelivery, Core, DeliveryKey, Log } from '@postrider/core'

/**
 * Deliveries that a worker was lost with before: any of them may be what killed it. Their letters are written one at a time, each
 * noted before, so that the next loss tells which one it was; their conversations go on side by side like everybody's. It costs
 * nothing where nothing was lost.
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

  /** Writes a letter, alone if its delivery is suspected. Throws what `write` throws. */
  async write<T>(delivery: ClaimedDelivery, write: () => Promise<T>): Promise<T> {
    if (delivery.abandoned === 0) return write()
    this.#waiting++
    const turn = this.#last.then(async () => {
      await this.#note(delivery)
      try {
        return await write()
      } finally {
        // The next one takes this note away with its own.
        if (--this.#waiting === 0) await this.#note(undefined)
      }
    })
    this.#last = turn.catch(() => {})
    return turn
  }

  /** Without the note it is written all the same: a database that can't write now says nothing about the message. */
  async #note(now: DeliveryKey | undefined): Promise<void> {
    const before = this.#noted
    this.#noted = now
    await this.#core.deliveries.noteAlone(this.#workerId, now, before).catch((err: unknown) => {
      this.#log.warn({ err }, 'what is under way could not be noted')
    })
  }
}
