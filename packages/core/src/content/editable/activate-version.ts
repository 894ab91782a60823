import type { Sql } from '../../platform/database/database.ts'
import type { EditableVersion, VersionAct } from './editable-template.ts'
import { auditValues, noteTemplateChange } from './note-change.ts'
import { requireVersion, withTemplate } from './require-template.ts'
import { deactivate, touchTemplate, updateVersion } from './store.ts'

export function activateVersion(sql: Sql, act: VersionAct): Promise<EditableVersion> {
  return withTemplate(sql, act, async (transaction) => {
    const { accountId, id } = act
    const before = await requireVersion(transaction, act)
    if (before.active) return before
    await deactivate(transaction, accountId, id)
    const after = await updateVersion(transaction, accountId, { ...before, active: true })
    await touchTemplate(transaction, accountId, id, undefined)
    await noteTemplateChange(transaction, act, 'version.activate', { after: auditValues(after) })
    return after
  })
}
