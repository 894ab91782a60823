import { type Core, createGroupCommit, isDatabaseTrouble, type Log, type Slot, type SlotRequest } from '@postrider/core'

/** Milliseconds between two statements that free slots, and between two checks that the database still has those of this worker. */
const FREE_EVERY_MS = 50
const CHECK_EVERY_MS = 1000
/** Checks between two searches for slots of workers that stopped without freeing theirs. */
const SEARCH_EVERY = 10
/** Milliseconds between two statements that take slots. */
const SPACING_MS = 2
const BATCH = 200

export interface SlotsOptions {
  readonly core: Core
  readonly log: Log
  readonly workerId: number
}

/**
 * The connection slots of this worker, in the database: all workers together never have more connections to a place than its limit. One
 * statement serves many places.
 */
export class Slots {
  readonly #options: SlotsOptions
  readonly #taken = new Map<string, Slot>()
  readonly #taking
  #toFree: Slot[] = []
  #freeing: NodeJS.Timeout | undefined
  readonly #checking: NodeJS.Timeout
  #since: string | undefined
  #checks = 0

  constructor(options: SlotsOptions) {
    this.#options = options
    const { core, workerId } = options
    this.#taking = createGroupCommit<SlotRequest, readonly number[]>({
      write: async (requests) => byRequest(requests, await core.deliveries.slots.take(workerId, requests)),
      weigh: () => 1,
      maxItems: BATCH,
      maxWeight: BATCH,
      sharedFault: isDatabaseTrouble,
      spacing: SPACING_MS,
      lanes: 1,
    })
    this.#checking = setInterval(() => void this.#check(), CHECK_EVERY_MS)
  }

  /** Takes up to `count` slots; returns their numbers. A place must have only one request at a time. Throws if the database is away. */
  async take(request: SlotRequest): Promise<readonly number[]> {
    const taken = await this.#taking.add(request)
    for (const no of taken) this.#taken.set(keyOf({ place: request.place, no }), { place: request.place, no })
    return taken
  }

  /** Frees a slot, shortly. */
  free(slot: Slot): void {
    this.#toFree.push(slot)
    this.#freeing ??= setTimeout(() => void this.#free(), FREE_EVERY_MS)
  }

  async #free(): Promise<void> {
    const { core, log, workerId } = this.#options
    const slots = this.#toFree.splice(0)
    try {
      await core.deliveries.slots.free(workerId, slots)
      for (const slot of slots) this.#taken.delete(keyOf(slot))
    } catch (err) {
      if (!isDatabaseTrouble(err)) log.error({ err }, 'could not free connection slots')
      this.#toFree.push(...slots)
    }
    this.#freeing = this.#toFree.length > 0 ? setTimeout(() => void this.#free(), CHECK_EVERY_MS) : undefined
  }

  /** After a crash of the database the table is empty: this worker inserts its slots again before others are given any. */
  async #check(): Promise<void> {
    const { core, log, workerId } = this.#options
    try {
      const since = await core.deliveries.slots.since()
      if (this.#since !== undefined && since !== this.#since) {
        await core.deliveries.slots.restore(workerId, [...this.#taken.values()])
        log.info({ count: this.#taken.size }, 'connection slots inserted again after a crash of the database')
      }
      this.#since = since
      if (++this.#checks % SEARCH_EVERY === 0) await core.deliveries.slots.freeThoseOfOthers()
    } catch (err) {
      if (!isDatabaseTrouble(err)) log.error({ err }, 'could not check connection slots')
    }
  }

  /** Frees all slots: the connections are closed. */
  async close(): Promise<void> {
    clearInterval(this.#checking)
    clearTimeout(this.#freeing)
    const { core, workerId } = this.#options
    await core.deliveries.slots.free(workerId, [...this.#taken.values()]).catch(() => {})
  }
}

function keyOf({ place, no }: Slot): string {
  return `${no} ${place}`
}

function byRequest(requests: readonly SlotRequest[], slots: readonly Slot[]): number[][] {
  const byPlace = Map.groupBy(slots, ({ place }) => place)
  return requests.map(({ place }) => (byPlace.get(place) ?? []).map(({ no }) => no))
}
