import type { Flow } from '@postrider/core'

/** How much of the capacity a flow of each class gets when there is too little for all: urgent, normal, bulk. */
export const WEIGHTS = [16, 4, 1] as const
const CLASSES = [...WEIGHTS.keys()]

/** A flow as a key of a Map. */
export function flowKey({ accountId, class: of }: Flow): number {
  return accountId * WEIGHTS.length + of
}

interface Waiting<T> {
  readonly flow: Flow
  readonly items: T[]
}

/**
 * Items of several flows. Classes get turns by their weights, which core's Rotation does not have, an urgent one first if there is a choice; the flows
 * of a class take turns. Stride scheduling: each turn of a class advances its pass by 1/weight, and the class with the smallest pass is next.
 */
export class FairQueue<T> {
  /** By class. The order of each map is that of the flows' turns. */
  readonly #classes = WEIGHTS.map(() => new Map<number, Waiting<T>>())
  readonly #passes = WEIGHTS.map(() => 0)
  #length = 0

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
    this.#length++
    if (waiting) {
      waiting.items.push(item)
      return
    }
    // A class that had nothing has saved no turns.
    if (own.size === 0) this.#passes[flow.class] = this.#smallestPass()
    own.set(key, { flow, items: [item] })
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
        this.#passes[of] = this.#passOf(of) + 1 / (WEIGHTS[of] as number)
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

  #order(): number[] {
    const waiting = CLASSES.filter((of) => this.#classes[of]?.size)
    return waiting.length < 2 ? waiting : waiting.sort((a, b) => this.#passOf(a) - this.#passOf(b) || a - b)
  }

  #smallestPass(): number {
    const passes = CLASSES.filter((of) => this.#classes[of]?.size).map((of) => this.#passOf(of))
    return passes.length > 0 ? Math.min(...passes) : 0
  }

  #passOf(of: number): number {
    return this.#passes[of] as number
  }
}
