import { ALL_ACCOUNTS, noteChange, OPERATOR } from '../accounts/audit/index.ts'
import { holdRestored } from '../delivery/queue/hold-restored.ts'
import type { Sql, SqlTransaction } from '../platform/database/database.ts'
import { withPartitions } from '../platform/database/partitions.ts'
import { markTarget } from '../platform/database/replication/recovery-target.ts'
import { beginEpoch } from '../reporting/events/epochs.ts'

export interface Restored {
  /** Deliveries that are held until they are released. */
  readonly held: number
  /** The epoch of event numbers that has begun. */
  readonly epoch: number
}

/**
 * To be called when a database has been restored to its state at `restoredTo`, before any process uses it. Holds the mail in the queue,
 * because some may have been delivered since, and begins a new epoch of event numbers. The state may be older than the partitions that it has.
 */
export async function markRestored(sql: Sql, restoredTo: Date): Promise<Restored> {
  return withPartitions(
    sql,
    () => sql.begin((transaction) => holdAndMark(transaction, restoredTo)) as Promise<Restored>,
  )
}

async function holdAndMark(sql: SqlTransaction, restoredTo: Date): Promise<Restored> {
  const held = await holdRestored(sql, restoredTo)
  const epoch = await beginEpoch(sql, restoredTo)
  await markTarget(sql)
  const after = { to: restoredTo.toISOString(), held, epoch }
  const change = { action: 'database.restore', object: 'database', after }
  await noteChange(sql, { accountId: ALL_ACCOUNTS, by: OPERATOR, ...change })
  return { held, epoch }
}
