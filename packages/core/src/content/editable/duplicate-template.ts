import { randomUUID } from 'node:crypto'
import type { Sql } from '../../platform/database/database.ts'
import type { EditableAct, TemplateWithVersions } from './editable-template.ts'
import { noteTemplateChange } from './note-change.ts'
import { requireCapacity } from './require-capacity.ts'
import { checkName, octetsOf } from './rules.ts'
import { showTemplate } from './show-template.ts'
import { insertTemplate, insertVersion } from './store.ts'
import { newTemplateId } from './template-id.ts'

export async function duplicateTemplate(sql: Sql, act: EditableAct, name: string): Promise<TemplateWithVersions> {
  checkName(name)
  const { accountId, by } = act
  const source = await showTemplate(sql, accountId, act.id)
  const id = newTemplateId(source.generation)
  // The copies are created at the same time, and are listed in the order of their ids.
  const ids = source.versions.map(() => randomUUID()).sort()
  const octets = source.versions.reduce((sum, version) => sum + octetsOf(version), 0)
  const added = { templates: 1, versions: source.versions.length, octets }
  await sql.begin(async (transaction) => {
    await requireCapacity(transaction, accountId, added)
    await insertTemplate(transaction, { accountId, id, generation: source.generation, name })
    for (const [at, version] of source.versions.entries()) {
      await insertVersion(transaction, accountId, { ...version, id: ids[at] as string, templateId: id })
    }
    await noteTemplateChange(transaction, { accountId, id, by }, 'create', { after: { name, copyOf: act.id } })
  })
  return showTemplate(sql, accountId, id)
}
