import type { TrackingTarget } from '../composition/links/token.ts'
import { createFairTurns } from '../platform/concurrency/fair-turns.ts'
import { createSharedSlots } from '../platform/concurrency/shared-slots.ts'
import { isLockTimeout, type Sql, type SqlTransaction } from '../platform/database/database.ts'

/** Database connections in use for the pages of recipients, and requests waiting for one, in all and of one account. */
const TURNS = { capacity: 2, waiting: 200, each: 100 } as const
/** Requests of one delivery at once. */
const OF_DELIVERY = { total: Number.POSITIVE_INFINITY, each: 6, what: 'requests of a recipient' } as const
/** Milliseconds for which a change waits for a lock in its turn, and between two of its turns. */
const LOCK_MS = 200
const AGAIN_MS = 300
/** Milliseconds after which a change is not tried again: less than the page waits for it. */
const GIVE_UP_MS = 8000

export interface ReaderTurns {
  /** Runs `fn` in a turn of the account. Throws overloaded, and what `fn` throws. */
  take<T>(target: TrackingTarget, fn: () => Promise<T>): Promise<T>
  /** Runs `fn` in a transaction in a turn of the account; again, in a later turn, if it would have to wait for a lock. Throws the same. */
  change<T>(target: TrackingTarget, fn: (transaction: SqlTransaction) => Promise<T>): Promise<T>
}

/**
 * Turns at the few database connections for recipients' pages. Accounts take turns. An erasure of recipients holds locks for seconds: those of its account
 * who wait for them leave the connections to others meanwhile.
 */
export function createReaderTurns(sql: Sql): ReaderTurns {
  const turns = createFairTurns(TURNS)
  const inSlot = createSharedSlots(OF_DELIVERY)
  const ofDelivery = <T>({ messageId, recipientNo }: TrackingTarget, fn: () => Promise<T>): Promise<T> =>
    inSlot(`${messageId} ${recipientNo}`, fn)
  const inTurn = <T>({ accountId }: TrackingTarget, fn: () => Promise<T>): Promise<T> =>
    turns.take(String(accountId), fn)

  function begin<T>(fn: (transaction: SqlTransaction) => Promise<T>): Promise<T> {
    return sql.begin(async (transaction) => {
      await transaction`select set_config('lock_timeout', ${String(LOCK_MS)}, true)`
      return fn(transaction)
    }) as Promise<T>
  }

  async function untilUnlocked<T>(target: TrackingTarget, fn: () => Promise<T>): Promise<T> {
    const began = performance.now()
    for (;;) {
      try {
        return await inTurn(target, fn)
      } catch (error) {
        if (!isLockTimeout(error) || performance.now() - began > GIVE_UP_MS) throw error
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
  }

  return {
    take: (target, fn) => ofDelivery(target, () => inTurn(target, fn)),
    change: (target, fn) => ofDelivery(target, () => untilUnlocked(target, () => begin(fn))),
  }
}
