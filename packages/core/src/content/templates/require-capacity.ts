import type { SqlTransaction } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import { MAX_STORED_GB } from './rules.ts'
import { lockUsage } from './store.ts'

/**
 * Throws templatesFull if the account's templates are too large with the version that the transaction has added. It
 * locks the account. A transaction that takes a name has that lock before, otherwise it and a creation that waits for
 * the name would wait for each other.
 */
export async function requireCapacity(transaction: SqlTransaction, accountId: number): Promise<void> {
  if ((await lockUsage(transaction, accountId)) <= MAX_STORED_GB * 1024 ** 3) return
  throw new ServiceError('templatesFull', { values: { limit: `${MAX_STORED_GB} GB` } })
}
