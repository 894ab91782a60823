import type { Sql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import { type StoredExport, selectJob } from './store.ts'

/** Throws exportUnknown. */
export async function requireExport(sql: Sql, accountId: number, id: string): Promise<StoredExport> {
  const job = await selectJob(sql, accountId, uuidOf(id))
  if (!job) throw new ServiceError('exportUnknown')
  return job
}

/** Returns the UUID of a job's id. Throws exportUnknown. */
function uuidOf(id: string): string {
  const [, digits] = /^exp_([0-9a-f]{32})$/.exec(id) ?? []
  if (digits === undefined) throw new ServiceError('exportUnknown')
  return digits
}
