import { ServiceError } from './errors.ts'

/** Turns at scarce work. Those who wait are served in rotation, so that many requests of one delay those of others by one turn. */
export interface FairTurns {
  /** Runs `fn` in a turn of `who`. Throws overloaded if too many are waiting, in all or of this one, and whatever `fn` throws. */
  take<T>(who: string, fn: () => Promise<T>): Promise<T>
}

/** `atOnce`: turns at a time; `waiting`, `each`: requests that wait, in all and of one. */
export function createFairTurns({
  atOnce,
  waiting,
  each,
}: {
  readonly atOnce: number
  readonly waiting: number
  readonly each: number
}): FairTurns {
  /** By who waits; the first has the next turn. */
  const queues = new Map<string, (() => void)[]>()
  let count = 0
  let running = 0

  function wait(who: string): Promise<void> {
    const own = queues.get(who) ?? []
    if (count >= waiting || own.length >= each) throw new ServiceError('overloaded', { reason: 'too many are waiting' })
    queues.set(who, own)
    count++
    return new Promise((resolve) => own.push(resolve))
  }

  function next(): (() => void) | undefined {
    const [first] = queues
    if (!first) return undefined
    const [who, own] = first
    queues.delete(who)
    count--
    const turn = own.shift()
    if (own.length > 0) queues.set(who, own)
    return turn
  }

  return {
    async take(who, fn) {
      // The finishing one passes its turn on, so `running` is unchanged.
      if (running >= atOnce) await wait(who)
      else running++
      try {
        return await fn()
      } finally {
        const turn = next()
        if (turn) turn()
        else running--
      }
    },
  }
}
