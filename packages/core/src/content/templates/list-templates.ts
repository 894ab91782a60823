import type { Sql } from '../../platform/database/database.ts'
import { countTemplates, selectTemplates } from './store.ts'
import type { TemplateSummary } from './template.ts'

export async function listTemplates(
  sql: Sql,
  accountId: number,
  page: { limit: number; offset: number },
): Promise<{ templates: TemplateSummary[]; total: number }> {
  const [templates, total] = await Promise.all([selectTemplates(sql, accountId, page), countTemplates(sql, accountId)])
  return { templates, total }
}
