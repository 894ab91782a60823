import { type AuditValues, noteChange, OPERATOR } from '../../accounts/audit/index.ts'
import type { SqlTransaction } from '../../platform/database/database.ts'
import type { EditableAct, EditableVersion } from './editable-template.ts'

/** Records a change of a template in the account's audit log. */
export async function noteTemplateChange(
  sql: SqlTransaction,
  { accountId, id, by = OPERATOR }: EditableAct,
  what: string,
  values: { readonly before?: AuditValues; readonly after?: AuditValues },
): Promise<void> {
  await noteChange(sql, { accountId, by, action: `template.${what}`, object: `template ${id}`, ...values })
}

/** Values of a version for the audit log, without its content. */
export function auditValues({ id, name, subject, active }: EditableVersion): AuditValues {
  return { id, name, subject, active }
}
