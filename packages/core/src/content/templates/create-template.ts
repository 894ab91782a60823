import { noteChange, OPERATOR } from '../../accounts/audit/index.ts'
import type { Sql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import { auditValues, refuseTaken } from './change-template.ts'
import { requireCapacity } from './require-capacity.ts'
import { checkContent, cleanName, MAX_TEMPLATES } from './rules.ts'
import { countTemplates, insertTemplate } from './store.ts'
import type { NewTemplate, Template } from './template.ts'

export async function createTemplate(
  sql: Sql,
  { accountId, name, subject = null, content, text = null, variables = [], by = OPERATOR }: NewTemplate,
): Promise<Template> {
  const template = { accountId, name: cleanName(name), subject, content, text, variables }
  checkContent(template)
  return sql
    .begin(async (transaction) => {
      // The lock serializes creation within the account, so that two concurrent calls cannot both use the last free slot.
      await transaction`select from accounts where id = ${accountId} for no key update`
      if ((await countTemplates(transaction, accountId)) >= MAX_TEMPLATES)
        throw new ServiceError('templatesTooMany', { values: { limit: MAX_TEMPLATES } })
      const made = await insertTemplate(transaction, template)
      await requireCapacity(transaction, accountId)
      const object = `template ${made.id}`
      await noteChange(transaction, { accountId, by, action: 'template.create', object, after: auditValues(made) })
      return made
    })
    .catch(refuseTaken)
}
