import type { SqlTransaction } from '../database.ts'
import type { Batch } from '../events/index.ts'

/** Adds a batch of events to the roll-ups, in the transaction that numbers them. */
export async function rollUp(_sql: SqlTransaction, _batch: Batch): Promise<void> {}
