import { type Core, createGroupCommit, isDatabaseTrouble, type Log, type Slot, type SlotRequest } from '@postrider/core'

/** Milliseconds between two statements that free slots, and between two checks that the database has those of this worker. */
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
 * The connection slots of this worker, in the database: all workers together never have more connections to a destination than its limit. One
 * statement serves many destinations. Statements run one after another: after one whose response was lost, the rows are compared with the
 * slots in use before anything else is taken.
 */
export class Slots {
  readonly #options: SlotsOptions
  readonly #inUse = new Map<string, Slot>()
  readonly #taking
  #toFree: Slot[] = []
  #freeing: NodeJS.Timeout | undefined
  readonly #checking: NodeJS.Timeout
  #last: Promise<unknown> = Promise.resolve()
  /** The response to a statement was lost, so the database may have other slots of this worker than those in use. */
  #isUnsure = false
  #since: string | undefined
  #checks = 0

  constructor(options: SlotsOptions) {
    this.#options = options
    this.#taking = createGroupCommit<SlotRequest, readonly number[]>({
      write: (requests) => this.#inTurn(() => this.#take(requests)),
      weigh: () => 1,
      maxItems: BATCH,
      maxWeight: BATCH,
      sharedFault: isDatabaseTrouble,
      spacing: SPACING_MS,
      lanes: 1,
    })
    this.#checking = setInterval(() => void this.#check(), CHECK_EVERY_MS)
  }

  /** Takes up to `count` slots; returns their numbers. A destination must have only one request at a time. Throws if the database is away. */
  take(request: SlotRequest): Promise<readonly number[]> {
    return this.#taking.add(request)
  }

  /** Frees a slot, shortly. */
  free(slot: Slot): void {
    this.#inUse.delete(keyOf(slot))
    this.#toFree.push(slot)
    this.#freeing ??= setTimeout(() => void this.#free(), FREE_EVERY_MS)
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const result = this.#last.then(act)
    this.#last = result.catch(() => {})
    return result
  }

  async #take(requests: readonly SlotRequest[]): Promise<number[][]> {
    const { core, workerId } = this.#options
    await this.#reconcile()
    try {
      const slots = await core.deliveries.slots.take(workerId, requests)
      for (const slot of slots) this.#inUse.set(keyOf(slot), slot)
      return byRequest(requests, slots)
    } catch (error) {
      this.#isUnsure = true
      throw error
    }
  }

  async #free(): Promise<void> {
    this.#freeing = undefined
    const { core, log, workerId } = this.#options
    await this.#inTurn(async () => {
      const slots = this.#toFree.splice(0)
      try {
        await core.deliveries.slots.free(workerId, slots)
      } catch (err) {
        // They may be free, and taken again by the next statement, so this one is not repeated.
        this.#isUnsure = true
        if (!isDatabaseTrouble(err)) log.error({ err }, 'could not free connection slots')
      }
    })
  }

  /** Frees the slots that the database has of this worker, and that are not in use. */
  async #reconcile(): Promise<void> {
    if (!this.#isUnsure) return
    const { core, workerId } = this.#options
    this.#toFree = []
    await core.deliveries.slots.keep(workerId, [...this.#inUse.values()])
    this.#isUnsure = false
  }

  /** After a crash of the database the table is empty: this worker inserts its slots again before others are given any. */
  async #check(): Promise<void> {
    const { core, log, workerId } = this.#options
    try {
      await this.#inTurn(async () => {
        await this.#reconcile()
        const since = await core.deliveries.slots.since()
        if (this.#since !== undefined && since !== this.#since) {
          await core.deliveries.slots.restore(workerId, [...this.#inUse.values()])
          log.info({ count: this.#inUse.size }, 'connection slots inserted again after a crash of the database')
        }
        this.#since = since
      })
      if (++this.#checks % SEARCH_EVERY === 0) await core.deliveries.slots.freeThoseOfOthers()
    } catch (err) {
      if (!isDatabaseTrouble(err)) log.error({ err }, 'could not check connection slots')
    }
  }

  /** Frees the slots that are not in use. Those of conversations in progress are freed when this worker is presumed dead. */
  async close(): Promise<void> {
    clearInterval(this.#checking)
    clearTimeout(this.#freeing)
    await this.#free()
  }
}

function keyOf({ place: destination, no }: Slot): string {
  return `${no} ${destination}`
}

function byRequest(requests: readonly SlotRequest[], slots: readonly Slot[]): number[][] {
  const byDestination = Map.groupBy(slots, ({ place: destination }) => destination)
  return requests.map(({ place: destination }) => (byDestination.get(destination) ?? []).map(({ no }) => no))
}
