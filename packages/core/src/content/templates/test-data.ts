import { noteChange, OPERATOR } from '../../accounts/audit/index.ts'
import type { Sql } from '../../platform/database/database.ts'
import { checkTestData } from '../editable/rules.ts'
import { showTemplate } from './show-template.ts'
import { selectTestData, updateTestData } from './store.ts'
import type { TemplateAct } from './template.ts'

/** Returns the test data of a template with merge tags, as JSON; null if none were entered. */
export async function showTestData(sql: Sql, accountId: number, id: number): Promise<string | null> {
  const { id: known } = await showTemplate(sql, accountId, id)
  return selectTestData(sql, known)
}

/** Changes the test data if they differ. The audit log has that they were changed, without them. Throws parameterInvalid (testData). */
export async function keepTestData(sql: Sql, { accountId, id, by = OPERATOR }: TemplateAct, json: string) {
  checkTestData(json)
  const { id: known, name } = await showTemplate(sql, accountId, id)
  await sql.begin(async (transaction) => {
    if (!(await updateTestData(transaction, known, json === '' ? null : json))) return
    const values = { action: 'template.test-data', object: `template ${known}` }
    await noteChange(transaction, { accountId, by, ...values, after: { name } })
  })
}
