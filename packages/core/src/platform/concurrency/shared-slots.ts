import { ServiceError } from '../errors.ts'

/** Runs `fn` in one of a few slots, of which a holder has only some, such as an account with its subaccounts. Throws overloaded if none is free. */
export type SharedSlots = <T>(holder: number | string, fn: () => Promise<T>) => Promise<T>

/** `total`: slots of the process; `each`: those that one holder can take, so that it does not keep others out; `what` is for the log. */
export function createSharedSlots({ total, each, what }: { total: number; each: number; what: string }): SharedSlots {
  let used = 0
  const held = new Map<number | string, number>()
  return async (holder, fn) => {
    const own = held.get(holder) ?? 0
    if (used >= total || own >= each) throw new ServiceError('overloaded', { reason: `too many ${what} at once` })
    used++
    held.set(holder, own + 1)
    try {
      return await fn()
    } finally {
      used--
      const left = (held.get(holder) ?? 0) - 1
      if (left > 0) held.set(holder, left)
      else held.delete(holder)
    }
  }
}
