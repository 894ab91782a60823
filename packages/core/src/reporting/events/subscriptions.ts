import type { AnySql } from '../../platform/database/database.ts'
import { lastNumbers } from './last-numbers.ts'

/** Open pages learn of new events at most twice a second. */
const INTERVAL_MS = 500

export interface Subscriptions {
  /**
   * Calls back when the account has events after the sequence number `after`, and then whenever it has new ones, at most twice a second. Returns a
   * function that ends the subscription.
   */
  subscribe(subscription: Subscription): () => void
}

export interface Subscription {
  readonly accountId: number
  /** The last sequence number that the subscriber knows; 0 if none. */
  readonly after: number
  readonly onEvents: () => void
}

interface Subscriber {
  after: number
  readonly onEvents: () => void
}

/**
 * Any number of subscribers in this process cost one listening connection, and one query for all their accounts per half second in which
 * events got numbers. A failed query is repeated after the interval.
 */
export function createSubscriptions(sql: AnySql, listen: (onEvents: () => void) => Promise<unknown>): Subscriptions {
  const accounts = new Map<number, Set<Subscriber>>()
  let listening: Promise<unknown> | undefined
  let timer: NodeJS.Timeout | undefined
  let again = false

  function soon(): void {
    again = true
    if (timer !== undefined || accounts.size === 0) return
    timer = setTimeout(() => void tell(), INTERVAL_MS)
    timer.unref()
  }

  async function tell(): Promise<void> {
    // Subscribers that left within the interval: a process that is stopping would begin to listen on a pool that has ended, for ever.
    if (accounts.size === 0) return void (timer = undefined)
    again = false
    try {
      listening ??= listen(soon)
      await listening
      for (const { accountId, last } of await lastNumbers(sql, [...accounts.keys()])) {
        for (const subscriber of accounts.get(accountId) ?? []) {
          if (subscriber.after === last) continue
          subscriber.after = last
          subscriber.onEvents()
        }
      }
    } catch {
      listening = undefined
      again = true
    }
    timer = undefined
    if (again) soon()
  }

  return {
    subscribe({ accountId, after, onEvents }) {
      const subscriber = { after, onEvents }
      const own = accounts.get(accountId) ?? new Set()
      accounts.set(accountId, own.add(subscriber))
      soon()
      return () => {
        own.delete(subscriber)
        if (own.size === 0 && accounts.get(accountId) === own) accounts.delete(accountId)
      }
    },
  }
}
