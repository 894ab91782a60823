import type { Sql } from '../../platform/database/database.ts'
import type { EditableAct } from './editable-template.ts'
import { noteTemplateChange } from './note-change.ts'
import { withTemplate } from './require-template.ts'
import { deleteTemplate } from './store.ts'

export function removeTemplate(sql: Sql, act: EditableAct): Promise<void> {
  return withTemplate(sql, act, async (transaction, { name }) => {
    await deleteTemplate(transaction, act.accountId, act.id)
    await noteTemplateChange(transaction, act, 'delete', { before: { name } })
  })
}
