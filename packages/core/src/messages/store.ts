import type { Announcer } from '../delivery/queue/queue-channel.ts'
import { pause } from '../platform/concurrency/timer-delay.ts'
import type { CommitTurn } from '../platform/database/commits/group-commit.ts'
import { type LostAnswer, type SentStatement, untilEnded } from '../platform/database/commits/lost-answers.ts'
import { isDatabaseAway, isRetryable, type Sql, type SqlTransaction } from '../platform/database/database.ts'
import { withDeadline } from '../platform/database/deadlines.ts'
import { withPartitions } from '../platform/database/partitions.ts'
import { ServiceError } from '../platform/errors.ts'
import { observe } from '../platform/metrics/metrics.ts'
import type { Forgotten } from '../suppressions/forgotten.ts'
import { copyBodies } from './copy-bodies.ts'
import { insertMessages, type Written } from './insert-messages.ts'
import type { StoredMessage } from './stored-message.ts'

/** Bytes above which a part is written in chunks by COPY. As a parameter it would be in memory twice, here and in the database. */
const COPY_ABOVE = 1024 * 1024
/** Milliseconds since a message came for which it is tried again, as while the database restarts. Clients wait longer than that (RFC 5321 4.5.3.2.6). */
const RETRY_TIMEOUT = 8000
/** Milliseconds that a second attempt has at least, and those that the look for its outcome takes. */
const MIN_ATTEMPT = 1000
const LOOK_TIMEOUT = 500
/** Milliseconds until a look for stored messages that failed is repeated. */
const LOOK_AGAIN = 250
/**
 * Milliseconds for which the outcome of a commit is awaited whose answer was lost. An SMTP client waits for ten minutes (RFC 5321 4.5.3.2.6), most
 * HTTP clients for 30 s to a minute or more: none of them would gain by an answer that may be wrong.
 */
const OUTCOME_TIMEOUT = 60_000

export interface Write {
  readonly sql: Sql
  readonly batch: readonly StoredMessage[]
  readonly forgotten: Forgotten
  readonly announceBehind: Announcer['announceBehind']
  readonly turn: CommitTurn
}

/** With what was sent last that commits the batch. */
interface Attempt extends Write {
  sent: SentStatement | undefined
}

/**
 * Writes a batch of messages in one transaction and returns after its commit (P1). If the connection is lost or stalls, the commit may or may not have
 * happened, or may yet happen. So its session is ended first; then the batch is looked up by its ids, which are generated here, and written again only
 * if it is not stored. What is thrown says that no message of the batch is or will be stored, except outcomeUnknown.
 */
export async function writeMessages(write: Write): Promise<Written[]> {
  const { sql, batch, turn } = write
  const deadline = turn.since + RETRY_TIMEOUT
  for (let number = 1; ; number++) {
    const left = Math.max(MIN_ATTEMPT, deadline - performance.now() - LOOK_TIMEOUT)
    // The first one has the usual deadline of mail.
    const attempt: Attempt = { ...write, sql: number === 1 ? sql : withDeadline(sql, left), sent: undefined }
    try {
      return await insertOnce(attempt)
    } catch (error) {
      if (!isDatabaseAway(error) && !isRetryable(error) && !isOwnDuplicate(error)) throw error
      const found = await storedOf(attempt, error)
      if (found.size > 0) return batch.map(({ id }) => ({ stored: found.has(id), queued: found.has(id) }))
      if (performance.now() > deadline) throw error
      await pause(Math.min(50 * 2 ** number, 500) * (0.5 + Math.random()))
    }
  }
}

/** Returns the ids of the batch that the failed attempt has stored. Throws outcomeUnknown. */
async function storedOf({ sql, batch, sent, turn }: Attempt, error: unknown): Promise<Set<string>> {
  if (isRetryable(error) || !sent?.state) return new Set()
  const lost: LostAnswer = { pid: sent.state.pid, since: performance.now() }
  turn.release()
  const until = lost.since + OUTCOME_TIMEOUT
  for (;;) {
    if (!(await untilEnded(sql, lost, until - performance.now()))) throw outcomeUnknown(error)
    const found = await findStored(sql, batch).catch(() => undefined)
    if (found) return found
    if (performance.now() > until) throw outcomeUnknown(error)
    await pause(LOOK_AGAIN)
  }
}

function outcomeUnknown(cause: unknown): ServiceError {
  return new ServiceError('outcomeUnknown', { reason: 'the connection was lost during a commit', cause })
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

/** Whether an earlier attempt has committed after all: behind a pooler, its session is not known. */
function isOwnDuplicate(error: unknown): boolean {
  const { code, table_name: table } = error as { code?: string; table_name?: string }
  return code === '23505' && /^(?:messages|bodies)_/.test(table ?? '')
}

/** Whether the body of a message is written by COPY. */
export function isCopied({ parts }: StoredMessage): boolean {
  return parts.some(({ length }) => length > COPY_ABOVE)
}

async function insertOnce(attempt: Attempt): Promise<Written[]> {
  const began = performance.now()
  const written = await withPartitions(attempt.sql, () => insertAll(attempt))
  observe('accept_commit_seconds', (performance.now() - began) / 1000, {})
  observe('accept_commit_messages', attempt.batch.length, {})
  return written
}

async function insertAll(attempt: Attempt): Promise<Written[]> {
  const { sql, batch, forgotten, announceBehind } = attempt
  const hashes = forgottenHashes(batch, forgotten, await forgotten.accounts())
  const onSent = (statement: SentStatement): void => {
    attempt.sent = statement
  }
  if (!batch.some(isCopied)) return insertMessages(sql, batch, { withBodies: true, hashes, announceBehind, onSent })
  return sql.begin(async (transaction) => {
    // First, since that takes long: the statement locks the keys and balances of these accounts, and other batches, which have mail of all accounts,
    // would wait for it.
    const repeated = await findRepeated(transaction, batch)
    const copied = batch.filter(({ id }) => !repeated.has(id))
    await copyBodies(transaction, copied)
    const written = await insertMessages(transaction, batch, { withBodies: false, hashes, onSent })
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
