import type { AnySql, Sql, SqlTransaction } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { EditableAct, EditableTemplate, EditableVersion, VersionAct } from './editable-template.ts'
import { selectTemplate, selectVersion } from './store.ts'
import { generationOf, isVersionId } from './template-id.ts'

/** Throws templateIdInvalid. */
export async function requireTemplate(
  sql: AnySql,
  { accountId, id }: Pick<EditableAct, 'accountId' | 'id'>,
  { lock = false } = {},
): Promise<EditableTemplate> {
  const template = generationOf(id) && (await selectTemplate(sql, accountId, id, { lock }))
  if (!template) throw new ServiceError('templateIdInvalid')
  return template
}

/** Throws templateVersionUnknown. */
export async function requireVersion(
  sql: AnySql,
  { accountId, id, versionId }: Pick<VersionAct, 'accountId' | 'id' | 'versionId'>,
): Promise<EditableVersion> {
  const version = isVersionId(versionId) && (await selectVersion(sql, accountId, id, versionId))
  if (!version) throw new ServiceError('templateVersionUnknown')
  return version
}

/** Runs `fn` in a transaction that locks the template. */
export function withTemplate<T>(
  sql: Sql,
  act: EditableAct,
  fn: (transaction: SqlTransaction, template: EditableTemplate) => Promise<T>,
): Promise<T> {
  return sql.begin(async (transaction) => {
    const template = await requireTemplate(transaction, act, { lock: true })
    return fn(transaction, template)
  }) as Promise<T>
}
