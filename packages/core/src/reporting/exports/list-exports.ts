import type { Sql } from '../../platform/database/database.ts'
import { requireExport } from './require-export.ts'
import { type StoredExport, selectJobs } from './store.ts'

export async function listExports(
  sql: Sql,
  accountId: number,
  { limit, before }: { limit: number; before?: string | undefined },
): Promise<StoredExport[]> {
  const last = before === undefined ? undefined : await requireExport(sql, accountId, before)
  return selectJobs(sql, accountId, { limit, before: last?.id })
}
