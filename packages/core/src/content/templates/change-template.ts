import { createHash } from 'node:crypto'
import { type AuditValues, noteChange, OPERATOR } from '../../accounts/audit/index.ts'
import {
  databaseErrorCode,
  isUniqueViolation,
  type Sql,
  type SqlTransaction,
} from '../../platform/database/database.ts'
import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import { isId } from './rules.ts'
import { lockTemplate } from './store.ts'
import type { Template, TemplateAct, TemplateContent } from './template.ts'

/**
 * Runs `fn` with the template locked, and records the change in the audit log. Without a result of `fn`, nothing is
 * recorded.
 */
export async function changeTemplate<T>(
  sql: Sql,
  { accountId, id, by = OPERATOR }: TemplateAct,
  what: string,
  fn: (transaction: SqlTransaction, template: Template) => Promise<{ after?: AuditValues; answer: T } | undefined>,
): Promise<T | undefined> {
  if (!isId(id)) throw new ServiceError('templateIdInvalid')
  return sql
    .begin(async (transaction): Promise<{ answer: T } | undefined> => {
      const template = await lockTemplate(transaction, accountId, id)
      if (!template) throw new ServiceError('templateIdInvalid')
      const done = await fn(transaction, template)
      if (!done) return undefined
      const { after } = done
      await noteChange(transaction, {
        accountId,
        by,
        action: `template.${what}`,
        object: `template ${id}`,
        before: auditValues(template),
        ...(after ? { after } : {}),
      })
      return done
    })
    .then((done) => done?.answer, refuseTaken)
}

/** Removes undefined fields, which would overwrite existing values. */
export function given(content: Partial<TemplateContent>): Partial<TemplateContent> {
  return Object.fromEntries(Object.entries(content).filter(([, value]) => value !== undefined))
}

/** Values for the audit log: content is recorded by size and digest. */
export function auditValues({ name, version, content, text, variables }: Template): AuditValues {
  return {
    name,
    version,
    size: Buffer.byteLength(content),
    sha256: digestOf(content),
    ...(text === null ? {} : { textSize: Buffer.byteLength(text), textSha256: digestOf(text) }),
    ...(variables.length > 0 ? { variables: variables.map(({ name }) => name) } : {}),
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Throws templateNameTaken or parameterInvalid (account) for the database's error; any other error as it is. */
export function refuseTaken(error: unknown): never {
  if (isUniqueViolation(error, 'templates_name')) throw new ServiceError('templateNameTaken')
  if (databaseErrorCode(error) === '23503') throw invalidParameter('account', 'does not exist')
  throw error
}
