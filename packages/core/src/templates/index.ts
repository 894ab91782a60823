import { databaseErrorCode, isUniqueViolation, onlyRow, type Sql } from '../database.ts'
import { invalidParameter, ServiceError } from '../errors.ts'

/** Stored content a submission names by id; it replaces the submission's own content. */
export interface Template {
  readonly id: number
  readonly accountId: number
  readonly name: string
  readonly content: string
}

/** Contract section 7: measured in octets, 10 MB is too much. */
const TEMPLATE_LIMIT = 10 * 1024 * 1024

export interface Templates {
  /** Throws templateNameInvalid, templateBlank, templateTooLarge, templateNameTaken, parameterInvalid (account). */
  create(template: { accountId: number; name: string; content: string }): Promise<Template>
  /** The account's template with this id, or undefined. */
  find(accountId: number, id: number): Promise<Template | undefined>
}

export function templatesOf(sql: Sql): Templates {
  return {
    async create({ accountId, name, content }) {
      if (!/^[A-Za-z0-9 _.-]{1,100}$/.test(name)) throw new ServiceError('templateNameInvalid')
      if (content.trim() === '') throw new ServiceError('templateBlank')
      if (Buffer.byteLength(content) >= TEMPLATE_LIMIT) throw new ServiceError('templateTooLarge')
      try {
        return onlyRow(
          await sql<Template[]>`
            insert into templates (account_id, name, content) values (${accountId}, ${name}, ${content})
            returning id, account_id as "accountId", name, content`,
        )
      } catch (error) {
        if (isUniqueViolation(error, 'templates_name')) throw new ServiceError('templateNameTaken')
        if (databaseErrorCode(error) === '23503') throw invalidParameter('account', 'there is no such account')
        throw error
      }
    },
    async find(accountId, id) {
      if (!Number.isInteger(id) || id < 1 || id > 2_147_483_647) return undefined
      const rows = await sql<Template[]>`
        select id, account_id as "accountId", name, content from templates where account_id = ${accountId} and id = ${id}`
      return rows[0]
    },
  }
}
