import type { Sql } from '../../platform/database/database.ts'
import { auditValues, changeTemplate, given } from './change-template.ts'
import { requireCapacity } from './require-capacity.ts'
import { checkContent, MAX_INACTIVE_VERSIONS } from './rules.ts'
import { forgetVersions, insertVersion, selectVersion } from './store.ts'
import type { TemplateAct, TemplateContent, TemplateVersion } from './template.ts'

export async function addVersion(
  sql: Sql,
  act: TemplateAct,
  content: Partial<TemplateContent>,
): Promise<TemplateVersion> {
  const added = await changeTemplate(sql, act, 'add-version', async (transaction, template) => {
    const wanted = { ...template, ...given(content) }
    checkContent(wanted)
    const number = await insertVersion(transaction, template.id, wanted)
    await forgetVersions(transaction, template.id, MAX_INACTIVE_VERSIONS)
    await requireCapacity(transaction, template.accountId)
    const answer = await selectVersion(transaction, template.accountId, template.id, number)
    return { after: auditValues({ ...wanted, version: number }), answer: answer as TemplateVersion }
  })
  return added as TemplateVersion
}
