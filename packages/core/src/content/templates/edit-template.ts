import type { Sql } from '../../platform/database/database.ts'
import { auditValues, changeTemplate, given } from './change-template.ts'
import { requireCapacity } from './require-capacity.ts'
import { checkContent, cleanName, MAX_INACTIVE_VERSIONS } from './rules.ts'
import { showTemplate } from './show-template.ts'
import { activateVersion, forgetVersions, insertVersion, renameTemplate, selectTemplate } from './store.ts'
import type { Template, TemplateAct, TemplateContent } from './template.ts'

export async function editTemplate(
  sql: Sql,
  act: TemplateAct,
  { name, ...content }: Partial<TemplateContent & { readonly name: string }>,
): Promise<Template> {
  const clean = name === undefined ? undefined : cleanName(name)
  const edited = await changeTemplate(sql, act, 'edit', async (transaction, before) => {
    const wanted = { ...before, ...given(content) }
    checkContent(wanted)
    const renamed = clean !== undefined && clean !== before.name
    const rewritten = !isSame(wanted, before)
    if (rewritten) {
      const number = await insertVersion(transaction, before.id, wanted)
      await activateVersion(transaction, before.id, number)
      await forgetVersions(transaction, before.id, MAX_INACTIVE_VERSIONS)
      await requireCapacity(transaction, before.accountId)
    }
    if (renamed) await renameTemplate(transaction, before.id, clean)
    if (!renamed && !rewritten) return undefined
    const after = (await selectTemplate(transaction, before.accountId, before.id)) as Template
    return { after: auditValues(after), answer: after }
  })
  return edited ?? showTemplate(sql, act.accountId, act.id)
}

function isSame(a: TemplateContent, b: TemplateContent): boolean {
  const told = ({ variables }: TemplateContent) =>
    JSON.stringify(variables.map((one) => [one.name, one.type, one.required, one.default]))
  return a.subject === b.subject && a.content === b.content && a.text === b.text && told(a) === told(b)
}
