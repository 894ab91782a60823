import type { Announcer } from '../delivery/queue/queue-channel.ts'
import { pause } from '../platform/concurrency/timer-delay.ts'
import { isDatabaseAway, isRetryable, type Sql, type SqlTransaction } from '../platform/database/database.ts'
import { withPartitions } from '../platform/database/partitions.ts'
import { observe } from '../platform/metrics/metrics.ts'
import type { Forgotten } from '../suppressions/forgotten.ts'
import { copyBodies } from './copy-bodies.ts'
import { insertMessages, REPEATED, type Written } from './insert-messages.ts'
import type { StoredMessage } from './stored-message.ts'

/** Bytes above which a part is written in chunks by COPY. As a parameter it would be in memory twice, here and in the database. */
const COPY_ABOVE = 1024 * 1024
/** Milliseconds for which a batch is retried while the database restarts. Clients wait longer than that (RFC 5321 4.5.3.2.6). */
const RETRY_TIMEOUT = 8000

export interface Write {
  readonly sql: Sql
  readonly batch: readonly StoredMessage[]
  readonly forgotten: Forgotten
  readonly announceBehind: Announcer['announceBehind']
  /** Whether a client still waits for the message at this position; meanwhile it may have got an error. */
  readonly isWanted: (at: number) => boolean
}

/**
 * Writes a batch of messages in one transaction and returns after its commit (P1). If the connection is lost or stalls, the commit
 * may or may not have happened. Ids are generated here, so the batch is looked up and written again only if it is not found.
 * Messages for which no client waits any longer are not written again.
 */
export async function writeMessages(write: Write): Promise<Written[]> {
  const { sql, batch, isWanted } = write
  const deadline = performance.now() + RETRY_TIMEOUT
  for (let attempt = 1; ; attempt++) {
    try {
      const found = attempt > 1 ? await findStored(sql, batch) : undefined
      if (found && found.size > 0) return batch.map(({ id }) => ({ stored: found.has(id), queued: found.has(id) }))
      const wanted = batch.filter((_message, at) => isWanted(at))
      if (wanted.length === batch.length) return await insertOnce(write)
      const written = wanted.length > 0 ? await insertOnce({ ...write, batch: wanted }) : []
      return batch.map((message) => written[wanted.indexOf(message)] ?? REPEATED)
    } catch (error) {
      const again = isDatabaseAway(error) || isRetryable(error) || (attempt > 1 && isOwnDuplicate(error))
      if (!again || performance.now() > deadline) throw error
      await pause(Math.min(50 * 2 ** attempt, 500) * (0.5 + Math.random()))
    }
  }
}

/**
 * Returns the ids of the batch that are stored. If one message is stored, all are, except those whose idempotency key was already
 * used.
 */
async function findStored(sql: Sql, batch: readonly StoredMessage[]): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    select id::text from messages where id = any(${batch.map(({ id }) => id)}::uuid[])`
  return new Set(rows.map(({ id }) => id))
}

/** Whether the first attempt's transaction was still running during the lookup and has committed since. */
function isOwnDuplicate(error: unknown): boolean {
  const { code, table_name: table } = error as { code?: string; table_name?: string }
  return code === '23505' && /^(?:messages|bodies)_/.test(table ?? '')
}

/** Whether the body of a message is written by COPY. */
export function isCopied({ parts }: StoredMessage): boolean {
  return parts.some(({ length }) => length > COPY_ABOVE)
}

async function insertOnce(write: Write): Promise<Written[]> {
  const began = performance.now()
  const written = await withPartitions(write.sql, () => insertAll(write))
  observe('accept_commit_seconds', (performance.now() - began) / 1000, {})
  observe('accept_commit_messages', write.batch.length, {})
  return written
}

async function insertAll({ sql, batch, forgotten, announceBehind }: Write): Promise<Written[]> {
  const hashes = forgottenHashes(batch, forgotten, await forgotten.accounts())
  if (!batch.some(isCopied)) return insertMessages(sql, batch, { withBodies: true, hashes, announceBehind })
  return sql.begin(async (transaction) => {
    // First, since that takes long: the statement locks the keys and balances of these accounts, and other batches, which have mail of all accounts,
    // would wait for it.
    const repeated = await findRepeated(transaction, batch)
    const copied = batch.filter(({ id }) => !repeated.has(id))
    await copyBodies(transaction, copied)
    const written = await insertMessages(transaction, batch, { withBodies: false, hashes })
    const isStored = (message: StoredMessage): boolean => written[batch.indexOf(message)]?.stored === true
    // The first answer has expired meanwhile.
    await copyBodies(
      transaction,
      batch.filter((message) => repeated.has(message.id) && isStored(message)),
    )
    await deleteCopies(
      transaction,
      copied.filter((message) => !isStored(message)),
    )
    return written
  }) as Promise<Written[]>
}

/** Returns the ids of the messages whose idempotency keys were already used, so that their bodies are not copied for nothing. */
async function findRepeated(sql: SqlTransaction, batch: readonly StoredMessage[]): Promise<ReadonlySet<string>> {
  const keyed = batch.filter(({ idempotencyKey }) => idempotencyKey !== undefined)
  if (keyed.length === 0) return new Set()
  const rows = await sql<{ id: string }[]>`
    select m.id::text as id
      from unnest(${keyed.map(({ id }) => id)}::uuid[], ${keyed.map(({ accountId }) => accountId)}::int[],
                  ${keyed.map(({ idempotencyKey = '' }) => idempotencyKey)}::text[]) as m(id, account_id, key)
      join idempotency_keys k on k.account_id = m.account_id and k.key = m.key`
  return new Set(rows.map(({ id }) => id))
}

/** Deletes the bodies of messages that are not stored after all. */
async function deleteCopies(sql: SqlTransaction, messages: readonly StoredMessage[]): Promise<void> {
  if (messages.length === 0) return
  await sql`delete from bodies b using unnest(${messages.map(({ id }) => id)}::uuid[]) as m(id) where b.message_id = m.id`
}

/** Returns the hash of each recipient under which an erased one is stored; undefined if no account has erased recipients. */
function forgottenHashes(
  batch: readonly StoredMessage[],
  { hash }: Forgotten,
  accounts: ReadonlySet<number>,
): (string | null)[] | undefined {
  if (accounts.size === 0 || !batch.some(({ accountId }) => accounts.has(accountId))) return undefined
  return batch.flatMap(({ accountId, deliveries }) =>
    deliveries.map(({ key }) =>
      key !== null && accounts.has(accountId) ? hash(accountId, key).toString('hex') : null,
    ),
  )
}
