import type { Sql } from '../../platform/database/database.ts'
import type { EditableVersionSummary, TemplateWithVersions } from './editable-template.ts'
import { selectSummaries, selectTemplates, type TemplatePlace } from './store.ts'

export async function listTemplates(
  sql: Sql,
  page: TemplatePlace,
): Promise<{ templates: TemplateWithVersions<EditableVersionSummary>[]; total: number }> {
  const { templates, total } = await selectTemplates(sql, page)
  const ids = templates.map(({ id }) => id)
  const versions = Map.groupBy(await selectSummaries(sql, page.accountId, ids), (version) => version.templateId)
  return { templates: templates.map((one) => ({ ...one, versions: versions.get(one.id) ?? [] })), total }
}
