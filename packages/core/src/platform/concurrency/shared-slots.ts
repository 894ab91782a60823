import { ServiceError } from '../errors.ts'
import { Tally } from './tally.ts'

/**
 * Runs `fn` in one of a few slots, of which a holder has only some, such as an account with its subaccounts. Throws overloaded if none is free: it has
 * no queue, unlike FairTurns, since a slot is held for seconds.
 */
export type SharedSlots = <T>(holder: number | string, fn: () => Promise<T>) => Promise<T>

/** `total`: slots of the process; `each`: those that one holder can take, so that it does not keep others out; `what` is for the log. */
export function createSharedSlots({ total, each, what }: { total: number; each: number; what: string }): SharedSlots {
  let used = 0
  const held = new Tally<number | string>()
  return async (holder, fn) => {
    if (used >= total || held.of(holder) >= each)
      throw new ServiceError('overloaded', { reason: `too many ${what} at once` })
    used++
    held.add(holder, 1)
    try {
      return await fn()
    } finally {
      used--
      held.add(holder, -1)
    }
  }
}
