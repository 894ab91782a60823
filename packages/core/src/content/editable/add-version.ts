import { randomUUID } from 'node:crypto'
import type { Sql, SqlTransaction } from '../../platform/database/database.ts'
import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import type { EditableAct, EditableVersion, NewVersion } from './editable-template.ts'
import { auditValues, noteTemplateChange } from './note-change.ts'
import { requireCapacity } from './require-capacity.ts'
import { withTemplate } from './require-template.ts'
import {
  changed,
  checkTogether,
  checkVersion,
  EDITABLE_LIMITS,
  octetsOf,
  type PlainText,
  plainTextOf,
} from './rules.ts'
import { contentOfOthers, deactivate, insertVersion, selectSummaries, touchTemplate } from './store.ts'
import { isVersionId } from './template-id.ts'

export async function addVersion(
  sql: Sql,
  act: EditableAct,
  version: NewVersion,
  versionId: string = randomUUID(),
): Promise<EditableVersion> {
  checkVersion(version)
  if (!isVersionId(versionId)) throw invalidParameter('versionId', 'must be a UUID')
  const plainOf = await plainTextOf(version)
  return withTemplate(sql, act, async (transaction) => {
    const added = await insert(transaction, act, { ...version, versionId, plainOf })
    await touchTemplate(transaction, act.accountId, act.id, undefined)
    await noteTemplateChange(transaction, act, 'version.create', { after: auditValues(added) })
    return added
  })
}

async function insert(
  transaction: SqlTransaction,
  { accountId, id }: EditableAct,
  { versionId, plainOf, ...version }: NewVersion & { readonly versionId: string; readonly plainOf: PlainText },
): Promise<EditableVersion> {
  const { active = false, editor = 'code', generatePlain = true, asIs = false } = version
  const existing = await selectSummaries(transaction, accountId, [id])
  if (existing.length >= EDITABLE_LIMITS.versions) {
    throw new ServiceError('templateVersionsTooMany', { values: { limit: EDITABLE_LIMITS.versions } })
  }
  if (existing.some((other) => other.id === versionId)) throw invalidParameter('versionId', 'is already in use')
  const first = existing.length === 0
  if (active && !first) await deactivate(transaction, accountId, id)
  const blank = { name: '', subject: '', html: '', plain: '', generatePlain, testData: null, problem: null }
  const added = {
    ...(await changed(blank, version, plainOf)),
    id: versionId,
    templateId: id,
    editor,
    active: active || (first && !asIs),
  }
  const octets = octetsOf(added)
  checkTogether('html', (await contentOfOthers(transaction, accountId, id, versionId)) + octets)
  await requireCapacity(transaction, accountId, { versions: 1, octets })
  return insertVersion(transaction, accountId, added)
}
