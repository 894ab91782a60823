import type { Sql } from '../../platform/database/database.ts'
import type { EditableVersionSummary, TemplateWithVersions } from './editable-template.ts'
import { countVersions, selectSummaries, selectTemplates, type TemplatePlace } from './store.ts'

export async function listTemplates(
  sql: Sql,
  page: TemplatePlace,
): Promise<{ templates: TemplateWithVersions<EditableVersionSummary>[]; total: number }> {
  const { templates, total } = await selectTemplates(sql, page)
  const versions = new Map<string, EditableVersionSummary[]>()
  const counts = await countVersions(
    sql,
    page.accountId,
    templates.map(({ id }) => id),
  )
  for (const ids of inSlices(counts)) {
    const found = Map.groupBy(await selectSummaries(sql, page.accountId, ids), (version) => version.templateId)
    for (const [id, own] of found) versions.set(id, own)
  }
  return { templates: templates.map((one) => ({ ...one, versions: versions.get(one.id) ?? [] })), total }
}

/** Versions read at once: rows are decoded in the turn of the main loop in which they arrive, and an account may have 10,000. */
const SLICE = 1000

/** Puts templates together until they have that many versions. */
function inSlices(counts: ReadonlyMap<string, number>): string[][] {
  const slices: string[][] = []
  let left = 0
  for (const [id, count] of counts) {
    if (left <= 0) {
      slices.push([])
      left = SLICE
    }
    slices.at(-1)?.push(id)
    left -= count
  }
  return slices
}
