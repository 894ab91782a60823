import { type AnySql, onlyRow, type Sql } from '../../platform/database/database.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { FileSummary, StoredAttachment } from './attachment.ts'

/** Maximum bytes read at a time: the driver holds each result twice for a moment, as received and as values. */
const SLICE = 2 * 1024 * 1024

const summary = (sql: AnySql) => sql`
  id, file_name as "fileName", octet_length(content) as size, created_at as "createdAt"`

/**
 * Returns the number and total bytes of the account's files, and locks the account until the end of the transaction, so
 * that no other file is added.
 */
export async function lockUsage(sql: AnySql, accountId: number): Promise<{ files: number; octets: number }> {
  await sql`select from accounts where id = ${accountId} for no key update`
  const rows = await sql<{ files: number; octets: number }[]>`
    select count(*)::int as files, coalesce(sum(octet_length(content)), 0)::float8 as octets
      from attachments where account_id = ${accountId}`
  return onlyRow(rows)
}

export async function insertAttachment(
  sql: AnySql,
  { accountId, fileName, content }: { accountId: number; fileName: string; content: Buffer },
): Promise<FileSummary> {
  // The driver sends only the last parameter as binary; others are sent as hexadecimal text (docs/decisions/0007).
  return onlyRow(
    await sql<FileSummary[]>`
      insert into attachments (account_id, file_name, content) values (${accountId}, ${fileName}, ${content})
      returning ${summary(sql)}`,
  )
}

export async function selectAttachments(
  sql: AnySql,
  accountId: number,
  { limit, offset }: { limit: number; offset: number },
): Promise<FileSummary[]> {
  return sql<FileSummary[]>`
    select ${summary(sql)} from attachments where account_id = ${accountId} order by id limit ${limit} offset ${offset}`
}

export async function countAttachments(sql: AnySql, accountId: number): Promise<number> {
  const rows = await sql<{ count: number }[]>`
    select count(*)::int as count from attachments where account_id = ${accountId}`
  return onlyRow(rows).count
}

export async function selectSummaries(sql: AnySql, accountId: number, ids: readonly number[]): Promise<FileSummary[]> {
  return sql<FileSummary[]>`
    select ${summary(sql)} from attachments where id = any(${[...ids]}::int[]) and account_id = ${accountId}`
}

/** Returns the deleted file, or undefined if it does not exist. */
export async function deleteAttachment(
  sql: AnySql,
  accountId: number,
  id: number,
): Promise<(FileSummary & { sha256: string }) | undefined> {
  const rows = await sql<(FileSummary & { sha256: string })[]>`
    delete from attachments where id = ${id} and account_id = ${accountId}
    returning ${summary(sql)}, encode(sha256(content), 'hex') as sha256`
  return rows[0]
}

/** Reads files, small ones in batches and large ones in slices. Throws attachmentUnknown if one was deleted. */
export async function readContents(sql: Sql, files: readonly FileSummary[]): Promise<StoredAttachment[]> {
  const contents = new Map<number, Buffer>()
  let batch: number[] = []
  let octets = 0
  const readBatch = async () => {
    const rows = await sql<{ id: number; content: Buffer }[]>`
      select id, content from attachments where id = any(${batch}::int[])`
    for (const { id, content } of rows) contents.set(id, content)
    batch = []
    octets = 0
  }
  for (const { id, size } of files) {
    if (size > SLICE) {
      contents.set(id, await readSliced(sql, id, size))
      continue
    }
    if (octets + size > SLICE) await readBatch()
    batch.push(id)
    octets += size
  }
  if (batch.length > 0) await readBatch()
  return files.map(({ id, fileName }) => {
    const content = contents.get(id)
    if (!content) throw new ServiceError('attachmentUnknown')
    return { id, fileName, content }
  })
}

async function readSliced(sql: Sql, id: number, size: number): Promise<Buffer> {
  const content = Buffer.allocUnsafe(size)
  for (let at = 0; at < size; at += SLICE) {
    const [row] = await sql<{ slice: Buffer }[]>`
      select substring(content from ${at + 1} for ${SLICE}) as slice from attachments where id = ${id}`
    if (!row) throw new ServiceError('attachmentUnknown')
    row.slice.copy(content, at)
  }
  return content
}
