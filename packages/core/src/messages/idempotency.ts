import type { Sql } from '../platform/database/database.ts'
import { ServiceError } from '../platform/errors.ts'
import type { StoredMessage } from './stored-message.ts'

/** Hours the first answer under an idempotency key is given again. */
const KEPT_HOURS = 24

export interface FirstAnswer {
  readonly messageId: string
  readonly fingerprint: Buffer
}

/** The kept answer for a key; one past its time is forgotten and not found. */
export async function findFirstAnswer(sql: Sql, accountId: number, key: string): Promise<FirstAnswer | undefined> {
  const rows = await sql<(FirstAnswer & { fresh: boolean })[]>`
    select message_id as "messageId", fingerprint, created_at > service_now() - make_interval(hours => ${KEPT_HOURS}) as fresh
      from idempotency_keys where account_id = ${accountId} and key = ${key}`
  const row = rows[0]
  if (!row || row.fresh) return row
  await sql`
    delete from idempotency_keys
     where account_id = ${accountId} and key = ${key} and created_at <= service_now() - make_interval(hours => ${KEPT_HOURS})`
  return undefined
}

/**
 * What was answered first under this message's key: the id of that message, or undefined when nothing is kept any more.
 *
 * Throws idempotencyConflict when the key was used for something else.
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

/** Forgets answers past their time, some at a time. Answers how many. */
export async function forgetOldAnswers(sql: Sql): Promise<number> {
  const rows = await sql`
    delete from idempotency_keys where (account_id, key) in (
      select account_id, key from idempotency_keys
       where created_at <= service_now() - make_interval(hours => ${KEPT_HOURS}) limit 5000)`
  return rows.count
}
