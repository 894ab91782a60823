import type { Sql } from '../../platform/database/database.ts'
import { changeTemplate } from './change-template.ts'
import { deleteTemplate } from './store.ts'
import type { TemplateAct } from './template.ts'

export async function removeTemplate(sql: Sql, act: TemplateAct): Promise<void> {
  await changeTemplate(sql, act, 'delete', async (transaction, { id }) => {
    await deleteTemplate(transaction, id)
    return { answer: undefined }
  })
}
