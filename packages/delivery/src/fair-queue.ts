import { BULK, type Flow, NORMAL, URGENT } from '@postrider/core'

/** How much of the capacity a flow of each class gets when there is too little for all: urgent, normal, bulk. */
export const WEIGHTS = [16, 4, 1] as const

/** A flow as a key of a Map. */
export function flowKey({ accountId, class: of }: Flow): number {
  return accountId * WEIGHTS.length + of
}

interface Waiting<T> {
  readonly flow: Flow
  readonly items: T[]
}

/**
 * Items of several flows. Urgent flows go first, and those of a class take turns. While normal and bulk mail wait, bulk mail gets every
 * fifth turn, so that it does not starve.
 */
export class FairQueue<T> {
  /** By class. The order of each map is that of the flows' turns. */
  readonly #classes = WEIGHTS.map(() => new Map<number, Waiting<T>>())
  #length = 0
  #turnsWithoutBulk = 0

  get length(): number {
    return this.#length
  }

  /** Number of flows that have items. */
  get flows(): number {
    return this.#classes.reduce((sum, { size }) => sum + size, 0)
  }

  countOf(flow: Flow): number {
    return this.#classes[flow.class]?.get(flowKey(flow))?.items.length ?? 0
  }

  push(flow: Flow, item: T): void {
    const own = this.#classes[flow.class] as Map<number, Waiting<T>>
    const key = flowKey(flow)
    const waiting = own.get(key)
    if (waiting) waiting.items.push(item)
    else own.set(key, { flow, items: [item] })
    this.#length++
  }

  /** Takes the next item whose flow may go on. */
  shift(mayGo: (flow: Flow) => boolean): T | undefined {
    for (const of of this.#order()) {
      const own = this.#classes[of] as Map<number, Waiting<T>>
      for (const [key, waiting] of own) {
        if (!mayGo(waiting.flow)) continue
        own.delete(key)
        const item = waiting.items.shift() as T
        if (waiting.items.length > 0) own.set(key, waiting)
        this.#length--
        this.#turnsWithoutBulk = of === BULK ? 0 : this.#turnsWithoutBulk + 1
        return item
      }
    }
    return undefined
  }

  /** Removes and returns all items. */
  drain(): T[] {
    const items = this.#classes.flatMap((own) => [...own.values()].flatMap((waiting) => waiting.items))
    for (const own of this.#classes) own.clear()
    this.#length = 0
    return items
  }

  #order(): readonly number[] {
    const isBulkDue = this.#turnsWithoutBulk >= WEIGHTS[NORMAL] / WEIGHTS[BULK]
    return isBulkDue ? [URGENT, BULK, NORMAL] : [URGENT, NORMAL, BULK]
  }
}
