import type { Sql } from '../../platform/database/database.ts'
import { invalidParameter } from '../../platform/errors.ts'
import type { EditableVersion, VersionAct, VersionChange } from './editable-template.ts'
import { auditValues, noteTemplateChange } from './note-change.ts'
import { requireCapacity } from './require-capacity.ts'
import { requireVersion, withTemplate } from './require-template.ts'
import { changed, checkTogether, checkVersion, octetsOf, plainTextOf } from './rules.ts'
import { contentOfOthers, deactivate, touchTemplate, updateVersion } from './store.ts'

export async function editVersion(sql: Sql, act: VersionAct, change: VersionChange): Promise<EditableVersion> {
  checkVersion(change)
  const plainOf = await plainTextOf(change)
  return withTemplate(sql, act, async (transaction) => {
    const { accountId, id, versionId } = act
    const before = await requireVersion(transaction, act)
    if (change.editor !== undefined && change.editor !== before.editor) {
      throw invalidParameter('editor', 'cannot be changed after a version exists')
    }
    const active = change.active === true || before.active
    if (active && !before.active) await deactivate(transaction, accountId, id)
    const edited = { ...(await changed(before, change, plainOf)), id: versionId, active, problem: null }
    const octets = octetsOf(edited)
    const growth = octets - octetsOf(before)
    // Plain text that is generated grows a version, too.
    if (growth > 0) {
      const field = edited.html === before.html && edited.plain === before.plain ? 'testData' : 'html'
      checkTogether(field, (await contentOfOthers(transaction, accountId, id, versionId)) + octets)
      await requireCapacity(transaction, accountId, { octets: growth })
    }
    const after = await updateVersion(transaction, accountId, edited)
    await touchTemplate(transaction, accountId, id, undefined)
    const values = { before: auditValues(before), after: auditValues(after) }
    await noteTemplateChange(transaction, act, 'version.edit', values)
    return after
  })
}
