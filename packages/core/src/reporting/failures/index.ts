import type { Sql } from '../../platform/database/database.ts'
import { browse, count } from './browse.ts'
import { clear, type FailuresToClear, forgetCleared } from './clear.ts'
import type { FailedAddress, FailureFilter } from './failure.ts'

export type { FailuresToClear } from './clear.ts'
export type { FailedAddress, FailureFilter, FailureKind } from './failure.ts'

/** Addresses with failures that do not suppress them. They are read from events; nothing is written when a message fails. */
export interface Failures {
  /** Returns a page of the addresses, sorted; see browse.ts for what a list has. */
  browse(accountId: number, filter: FailureFilter): Promise<FailedAddress[]>
  count(accountId: number, filter: FailureFilter): Promise<number>
  /** Removes addresses from a list until they fail again. Returns how many were on it. */
  clear(cleared: FailuresToClear): Promise<number>
  /** Deletes some removals that concern no stored event. Returns their number. */
  forgetOld(): Promise<number>
}

export function createFailures({ sql, eventDays }: { readonly sql: Sql; readonly eventDays: number }): Failures {
  return {
    browse: (accountId, filter) => browse(sql, accountId, filter),
    count: (accountId, filter) => count(sql, accountId, filter),
    clear: (cleared) => clear(sql, cleared),
    forgetOld: () => forgetCleared(sql, eventDays),
  }
}
