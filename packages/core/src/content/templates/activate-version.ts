import type { Sql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import { auditValues, changeTemplate } from './change-template.ts'
import { isId } from './rules.ts'
import { showTemplate } from './show-template.ts'
import { activateVersion as markActive, selectTemplate } from './store.ts'
import type { Template, TemplateAct } from './template.ts'

export async function activateVersion(sql: Sql, act: TemplateAct, number: number): Promise<Template> {
  const activated = await changeTemplate(sql, act, 'activate', async (transaction, before) => {
    if (!isId(number)) throw new ServiceError('templateVersionUnknown')
    if (before.version === number) return undefined
    const found = await markActive(transaction, before.id, number)
    if (!found) throw new ServiceError('templateVersionUnknown')
    const after = (await selectTemplate(transaction, before.accountId, before.id)) as Template
    return { after: auditValues(after), answer: after }
  })
  return activated ?? showTemplate(sql, act.accountId, act.id)
}
