import type { Sql } from '../../platform/database/database.ts'
import type { VersionAct } from './editable-template.ts'
import { auditValues, noteTemplateChange } from './note-change.ts'
import { requireVersion, withTemplate } from './require-template.ts'
import { deleteVersion, touchTemplate } from './store.ts'

export function removeVersion(sql: Sql, act: VersionAct): Promise<void> {
  return withTemplate(sql, act, async (transaction) => {
    const before = await requireVersion(transaction, act)
    await deleteVersion(transaction, act.accountId, act.id, act.versionId)
    await touchTemplate(transaction, act.accountId, act.id, undefined)
    await noteTemplateChange(transaction, act, 'version.delete', { before: auditValues(before) })
  })
}
