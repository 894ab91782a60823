import type { Sql } from '../database.ts'

/** A file uploaded once and named by id. */
export interface StoredAttachment {
  readonly id: number
  readonly fileName: string
  readonly content: Buffer
}

export interface Attachments {
  /** The account's attachments with these ids, in no order; unknown ids are simply missing. */
  find(accountId: number, ids: readonly number[]): Promise<StoredAttachment[]>
}

export function attachmentsOf(sql: Sql): Attachments {
  return {
    find: (accountId, ids) => sql<StoredAttachment[]>`
      select id, file_name as "fileName", content from attachments where account_id = ${accountId} and id = any(${[...ids]}::int[])`,
  }
}
