import type { SqlTransaction } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import { EDITABLE_LIMITS } from './rules.ts'
import { selectUsage, type Usage } from './store.ts'

/** Throws templatesTooMany or templatesFull if the account cannot have what is added. */
export async function requireCapacity(
  transaction: SqlTransaction,
  accountId: number,
  { templates = 0, versions = 0, octets = 0 }: Partial<Usage>,
): Promise<void> {
  // The lock serializes growth within the account, so that two concurrent calls cannot both use the last free space.
  await transaction`select from accounts where id = ${accountId} for no key update`
  const used = await selectUsage(transaction, accountId)
  if (templates > 0 && used.templates + templates > EDITABLE_LIMITS.templates) {
    throw new ServiceError('templatesTooMany', { values: { limit: EDITABLE_LIMITS.templates } })
  }
  if (versions > 0 && used.versions + versions > EDITABLE_LIMITS.accountVersions) {
    throw new ServiceError('templatesFull', { values: { limit: `${EDITABLE_LIMITS.accountVersions} versions` } })
  }
  if (octets > 0 && used.octets + octets > EDITABLE_LIMITS.accountOctets) {
    throw new ServiceError('templatesFull', { values: { limit: `${EDITABLE_LIMITS.accountOctets / 1024 ** 3} GB` } })
  }
}
