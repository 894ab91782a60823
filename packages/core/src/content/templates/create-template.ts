import { noteChange, OPERATOR } from '../../accounts/audit/index.ts'
import type { Sql } from '../../platform/database/database.ts'
import { auditValues, refuseTaken } from './change-template.ts'
import { checkContent, cleanName } from './rules.ts'
import { insertTemplate } from './store.ts'
import type { NewTemplate, Template } from './template.ts'

export async function createTemplate(
  sql: Sql,
  { accountId, name, subject = null, content, variables = [], by = OPERATOR }: NewTemplate,
): Promise<Template> {
  const template = { accountId, name: cleanName(name), subject, content, variables }
  checkContent(template)
  return sql
    .begin(async (transaction) => {
      const made = await insertTemplate(transaction, template)
      const object = `template ${made.id}`
      await noteChange(transaction, { accountId, by, action: 'template.create', object, after: auditValues(made) })
      return made
    })
    .catch(refuseTaken)
}
