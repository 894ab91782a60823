import type { Sql } from '../../platform/database/database.ts'
import type { EditableAct, TemplateWithVersions } from './editable-template.ts'
import { noteTemplateChange } from './note-change.ts'
import { withTemplate } from './require-template.ts'
import { checkName } from './rules.ts'
import { showTemplate } from './show-template.ts'
import { touchTemplate } from './store.ts'

export async function renameTemplate(sql: Sql, act: EditableAct, name: string): Promise<TemplateWithVersions> {
  checkName(name)
  await withTemplate(sql, act, async (transaction, before) => {
    await touchTemplate(transaction, act.accountId, act.id, name)
    await noteTemplateChange(transaction, act, 'edit', { before: { name: before.name }, after: { name } })
  })
  return showTemplate(sql, act.accountId, act.id)
}
