import type { SqlTransaction } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import { EDITABLE_LIMITS } from './rules.ts'
import { countTemplates } from './store.ts'

/** Throws templatesTooMany if the account cannot have another template. */
export async function requireCapacity(transaction: SqlTransaction, accountId: number): Promise<void> {
  // The lock serializes creation within the account, so that two concurrent calls cannot both use the last free slot.
  await transaction`select from accounts where id = ${accountId} for no key update`
  if ((await countTemplates(transaction, accountId)) >= EDITABLE_LIMITS.templates) {
    throw new ServiceError('templatesTooMany', { values: { limit: EDITABLE_LIMITS.templates } })
  }
}
