import type { Sql } from '../platform/database/database.ts'
import { ServiceError } from '../platform/errors.ts'
import type { StoredMessage } from './stored-message.ts'

/** Hours during which repeated requests with an idempotency key get the first response. */
const RETENTION_HOURS = 24

export interface FirstAnswer {
  readonly messageId: string
  readonly fingerprint: Buffer
}

/** Returns the stored response for a key. An expired one is deleted and not returned. */
export async function findFirstAnswer(sql: Sql, accountId: number, key: string): Promise<FirstAnswer | undefined> {
  const rows = await sql<(FirstAnswer & { fresh: boolean })[]>`
    select message_id as "messageId", fingerprint, created_at > service_now() - make_interval(hours => ${RETENTION_HOURS}) as fresh
      from idempotency_keys where account_id = ${accountId} and key = ${key}`
  const row = rows[0]
  if (!row || row.fresh) return row
  await sql`
    delete from idempotency_keys
     where account_id = ${accountId} and key = ${key} and created_at <= service_now() - make_interval(hours => ${RETENTION_HOURS})`
  return undefined
}

/**
 * Returns the id of the message first accepted with this message's idempotency key; undefined if the key has expired.
 *
 * Throws idempotencyConflict if the key was used with a different request.
 */
export async function resolveRepeat(
  { accountId, idempotencyKey, fingerprint }: StoredMessage,
  find: (accountId: number, key: string) => Promise<FirstAnswer | undefined>,
): Promise<string | undefined> {
  const first = await find(accountId, idempotencyKey ?? '')
  if (!first) return undefined
  if (!fingerprint || !first.fingerprint.equals(fingerprint)) throw new ServiceError('idempotencyConflict')
  return first.messageId
}

/** Deletes up to 5000 expired keys and returns their number. */
export async function forgetOldAnswers(sql: Sql): Promise<number> {
  const rows = await sql`
    delete from idempotency_keys where (account_id, key) in (
      select account_id, key from idempotency_keys
       where created_at <= service_now() - make_interval(hours => ${RETENTION_HOURS}) limit 5000)`
  return rows.count
}
