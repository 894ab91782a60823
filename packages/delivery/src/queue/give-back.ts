import {
  type ClaimedDelivery,
  type Core,
  createGroupCommit,
  isDatabaseTrouble,
  type LoadedMessage,
  type Log,
  type ParkedDelivery,
  type WaitingFor,
} from '@postrider/core'
import type { InFlightDeliveries } from '../destinations/in-flight.ts'

/** Deliveries parked by one statement, and milliseconds between two of them. */
const BATCH = 500
const SPACING_MS = 5

export interface GiveBackOptions {
  readonly core: Core
  readonly log: Log
  readonly workerId: number
  readonly inFlight: InFlightDeliveries
}

interface Given {
  readonly delivery: ClaimedDelivery
  readonly message?: LoadedMessage
}

/** Returns claimed deliveries to the database without an attempt. */
export class GiveBack {
  readonly #options: GiveBackOptions
  readonly #parking
  readonly #inProgress = new Set<Promise<void>>()

  constructor(options: GiveBackOptions) {
    this.#options = options
    const { core, workerId } = options
    this.#parking = createGroupCommit<ParkedDelivery, undefined>({
      write: async (batch) => {
        await core.deliveries.park(workerId, batch)
        return batch.map(() => undefined)
      },
      weigh: () => 1,
      maxItems: BATCH,
      maxWeight: BATCH,
      sharedFault: isDatabaseTrouble,
      spacing: SPACING_MS,
      lanes: 1,
    })
  }

  /** They are due again after some seconds. */
  async release(given: readonly Given[], seconds: number): Promise<void> {
    const { core, workerId } = this.#options
    await this.#give(given, (deliveries) => core.deliveries.release(workerId, deliveries, seconds))
  }

  /**
   * Because of an error of the database, before anything was offered to a server: a failure to record end of data is an outcome. Other errors
   * may be caused by the message and must count as an attempt.
   */
  async releaseUnoffered(given: Given, err: unknown): Promise<void> {
    const { messageId, recipientNo } = given.delivery
    this.#options.log.warn(
      { err, messageId, recipientNo },
      'delivery released without an attempt: database unavailable',
    )
    await this.release([given], 1)
  }

  /** They wait at their destination until it has capacity. `lookWithin`: see {@link ParkedDelivery}. */
  async park<T extends Given>(
    given: readonly T[],
    where: { readonly place: string; readonly waitingFor: WaitingFor },
    lookWithin: (one: T) => number | undefined,
  ): Promise<void> {
    await this.#give(given, () =>
      Promise.all(
        given.map((one) => {
          const { messageId, recipientNo, attempt } = one.delivery
          return this.#parking.add({ messageId, recipientNo, attempt, ...where, lookWithin: lookWithin(one) })
        }),
      ),
    )
  }

  async #give(
    given: readonly Given[],
    update: (deliveries: readonly ClaimedDelivery[]) => Promise<unknown>,
  ): Promise<void> {
    const { inFlight, log } = this.#options
    // Removed before the database is updated, since this worker may then claim them again at once, under the same attempt number.
    // reconcile() releases those that the update missed.
    for (const { delivery, message } of given) inFlight.remove(delivery, message)
    const updated = update(given.map(({ delivery }) => delivery)).then(
      () => {},
      (err) => log.warn({ err }, 'could not release deliveries'),
    )
    this.#inProgress.add(updated)
    await updated
    this.#inProgress.delete(updated)
  }

  /**
   * Releases deliveries that the database has as claimed by this worker but that are not in flight here: the response to their claim was
   * lost with the connection. Must be called between two claims.
   */
  async reconcile(): Promise<void> {
    const { core, workerId, log, inFlight } = this.#options
    await Promise.all(this.#inProgress)
    // Some finish between the database's look and its response. None comes in, since this runs between two claims.
    const wasInFlight = inFlight.snapshot()
    const unknown = (await core.deliveries.held(workerId)).filter((delivery) => !wasInFlight(delivery))
    if (unknown.length === 0) return
    log.warn({ count: unknown.length }, 'releasing deliveries whose claim response was lost')
    await core.deliveries.release(workerId, unknown, 0)
  }
}
