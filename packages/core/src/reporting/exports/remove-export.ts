import { type Actor, noteChange } from '../../accounts/audit/index.ts'
import type { Sql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import { requireExport } from './require-export.ts'
import { deleteQueued } from './store.ts'

export async function removeExport(
  sql: Sql,
  { accountId, id, by }: { readonly accountId: number; readonly id: string; readonly by: Actor },
): Promise<void> {
  const { id: number } = await requireExport(sql, accountId, id)
  await sql.begin(async (transaction) => {
    if (!(await deleteQueued(transaction, accountId, number))) throw new ServiceError('exportNotQueued')
    await noteChange(transaction, { accountId, by, action: 'export.delete', object: `export ${id}` })
  })
}
