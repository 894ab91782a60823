import { isUniqueViolation, type Sql } from '../../platform/database/database.ts'
import { invalidParameter } from '../../platform/errors.ts'
import type { EditableTemplate, NewEditableTemplate } from './editable-template.ts'
import { noteTemplateChange } from './note-change.ts'
import { requireCapacity } from './require-capacity.ts'
import { checkName } from './rules.ts'
import { insertTemplate } from './store.ts'
import { generationOf, newTemplateId } from './template-id.ts'

export async function createTemplate(
  sql: Sql,
  { accountId, name, generation, id = newTemplateId(generation), by }: NewEditableTemplate,
): Promise<EditableTemplate> {
  checkName(name)
  if (generationOf(id) !== generation)
    throw invalidParameter('id', 'template belongs to the other generation (legacy or dynamic)')
  try {
    return (await sql.begin(async (transaction) => {
      await requireCapacity(transaction, accountId, { templates: 1 })
      const template = await insertTemplate(transaction, { accountId, id, generation, name })
      await noteTemplateChange(transaction, { accountId, id, by }, 'create', { after: { name, generation } })
      return template
    })) as EditableTemplate
  } catch (error) {
    if (isUniqueViolation(error, 'editable_templates_pkey')) throw invalidParameter('id', 'is already in use')
    throw error
  }
}
