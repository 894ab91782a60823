import type { Sql } from '../../platform/database/database.ts'
import type { EditableVersion, EditableVersionSummary, TemplateWithVersions } from './editable-template.ts'
import { requireTemplate, requireVersion } from './require-template.ts'
import { selectSummaries, selectVersions } from './store.ts'

export async function showTemplate(sql: Sql, accountId: number, id: string): Promise<TemplateWithVersions> {
  const template = await requireTemplate(sql, { accountId, id })
  return { ...template, versions: await selectVersions(sql, accountId, id) }
}

export async function summarizeTemplate(
  sql: Sql,
  accountId: number,
  id: string,
): Promise<TemplateWithVersions<EditableVersionSummary>> {
  const template = await requireTemplate(sql, { accountId, id })
  return { ...template, versions: await selectSummaries(sql, accountId, [id]) }
}

export async function showVersion(
  sql: Sql,
  accountId: number,
  id: string,
  versionId: string,
): Promise<EditableVersion> {
  await requireTemplate(sql, { accountId, id })
  return requireVersion(sql, { accountId, id, versionId })
}
