import type { Sql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import { isId } from './rules.ts'
import { selectTemplate, selectVersion, selectVersions } from './store.ts'
import type { Template, TemplateVersion, VersionSummary } from './template.ts'

export async function showTemplate(sql: Sql, accountId: number, id: number): Promise<Template> {
  const template = isId(id) ? await selectTemplate(sql, accountId, id) : undefined
  if (!template) throw new ServiceError('templateIdInvalid')
  return template
}

export async function listVersions(sql: Sql, accountId: number, id: number): Promise<VersionSummary[]> {
  const versions = isId(id) ? await selectVersions(sql, accountId, id) : []
  // A template always has an active version.
  if (versions.length === 0) throw new ServiceError('templateIdInvalid')
  return versions
}

export async function showVersion(sql: Sql, accountId: number, id: number, number: number): Promise<TemplateVersion> {
  const version = isId(id) && isId(number) ? await selectVersion(sql, accountId, id, number) : undefined
  if (version) return version
  await showTemplate(sql, accountId, id)
  throw new ServiceError('templateVersionUnknown')
}
