import { createHash } from 'node:crypto'
import { type Actor, noteChange, OPERATOR } from '../../accounts/audit/index.ts'
import type { Sql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { FileSummary, StoredAttachment } from './attachment.ts'
import { checkFile, type FileParameters } from './file.ts'
import * as store from './store.ts'

export type { FileSummary, StoredAttachment } from './attachment.ts'
export { ATTACHMENT_SIZE } from './file.ts'

export interface NewAttachment {
  readonly accountId: number
  readonly fileName: string
  readonly content: Buffer
  /** The operator if omitted. */
  readonly by?: Actor
  /** The caller's names of the parameters. */
  readonly parameters: FileParameters
}

/** Maximum number of files per account; limits the cost of counting them at every upload. */
const MAX_FILES = 10_000
/** Maximum id in the database (int4). */
const MAX_ID = 2_147_483_647

export interface Attachments {
  /** Stores a file. Throws parameterMissing, parameterInvalid, attachmentsFull. */
  add(attachment: NewAttachment): Promise<FileSummary>
  /** Oldest first. */
  list(
    accountId: number,
    page: { limit: number; offset: number },
  ): Promise<{ attachments: FileSummary[]; total: number }>
  /** Deletes a file; accepted messages keep their copy. Throws attachmentUnknown. */
  remove(act: { accountId: number; id: number; by?: Actor }): Promise<void>
  /** Returns the account's attachments with these ids, in any order; unknown ids are omitted. */
  find(accountId: number, ids: readonly number[]): Promise<FileSummary[]>
  /** Reads the files that {@link find} returned. Throws attachmentUnknown if one was deleted since. */
  read(files: readonly FileSummary[]): Promise<StoredAttachment[]>
}

/** `capacity`: maximum bytes of all files of an account. */
export function createAttachments({ sql, capacity }: { readonly sql: Sql; readonly capacity: number }): Attachments {
  return {
    async add({ accountId, fileName, content, by = OPERATOR, parameters }) {
      checkFile({ fileName, content }, parameters)
      return sql.begin(async (transaction) => {
        const { files, octets } = await store.lockUsage(transaction, accountId)
        if (files >= MAX_FILES) throw new ServiceError('attachmentsFull', { values: { limit: `${MAX_FILES} files` } })
        if (octets + content.length > capacity) {
          throw new ServiceError('attachmentsFull', { values: { limit: `${capacity / 1024 / 1024} MB` } })
        }
        const stored = await store.insertAttachment(transaction, { accountId, fileName, content })
        const sha256 = createHash('sha256').update(content).digest('hex')
        await noteChange(transaction, {
          accountId,
          by,
          action: 'attachment.create',
          object: `attachment ${stored.id}`,
          after: { fileName, size: stored.size, sha256 },
        })
        return stored
      })
    },
    async list(accountId, page) {
      const [attachments, total] = await Promise.all([
        store.selectAttachments(sql, accountId, page),
        store.countAttachments(sql, accountId),
      ])
      return { attachments, total }
    },
    async remove({ accountId, id, by = OPERATOR }) {
      if (!isId(id)) throw new ServiceError('attachmentUnknown')
      await sql.begin(async (transaction) => {
        const deleted = await store.deleteAttachment(transaction, accountId, id)
        if (!deleted) throw new ServiceError('attachmentUnknown')
        const { fileName, size, sha256 } = deleted
        await noteChange(transaction, {
          accountId,
          by,
          action: 'attachment.delete',
          object: `attachment ${id}`,
          before: { fileName, size, sha256 },
        })
      })
    },
    find: async (accountId, ids) => store.selectSummaries(sql, accountId, ids.filter(isId)),
    read: (files) => store.readContents(sql, files),
  }
}

function isId(id: number): boolean {
  return Number.isInteger(id) && id >= 1 && id <= MAX_ID
}
