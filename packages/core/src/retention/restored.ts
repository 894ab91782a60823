import { ALL_ACCOUNTS, noteChange, OPERATOR } from '../accounts/audit/index.ts'
import { holdRestored } from '../delivery/hold-restored.ts'
import type { Sql } from '../platform/database/database.ts'
import { markTarget } from '../platform/database/recovery-target.ts'
import { beginEpoch } from '../reporting/events/epochs.ts'

export interface Restored {
  /** Deliveries that are held until they are released. */
  readonly held: number
  /** The epoch of event numbers that has begun. */
  readonly epoch: number
}

/**
 * To be called when a database has been restored to its state at `restoredTo`, before any process uses it. Holds the mail in the queue,
 * because some may have been delivered since, and begins a new epoch of event numbers.
 */
export async function markRestored(sql: Sql, restoredTo: Date): Promise<Restored> {
  return sql.begin(async (transaction) => {
    const held = await holdRestored(transaction, restoredTo)
    const epoch = await beginEpoch(transaction, restoredTo)
    await markTarget(transaction)
    const after = { to: restoredTo.toISOString(), held, epoch }
    await noteChange(transaction, {
      accountId: ALL_ACCOUNTS,
      by: OPERATOR,
      action: 'database.restore',
      object: 'database',
      after,
    })
    return { held, epoch }
  }) as Promise<Restored>
}
