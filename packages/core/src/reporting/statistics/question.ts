import type { SqlTransaction } from '../../platform/database/database.ts'
import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import { requireSpan, type Span } from './periods.ts'
import type { Question } from './stats.ts'

/** Returns the account or subaccount of a question and its current day. Throws subaccountUnknown. */
export async function accountOf(
  sql: SqlTransaction,
  { accountId, subaccount }: Pick<Question, 'accountId' | 'subaccount'>,
): Promise<{ id: number; today: string }> {
  if (subaccount?.includes('\0')) throw new ServiceError('subaccountUnknown')
  const [account] = await sql<{ id: number; today: string }[]>`
    select id, to_char(service_now() at time zone time_zone, 'YYYY-MM-DD') as today from accounts
     where ${
       subaccount === undefined
         ? sql`id = ${accountId}`
         : sql`parent_id = ${accountId} and lower(username) = lower(${subaccount}::text) and deleted_at is null`
     }`
  if (account) return account
  throw subaccount === undefined ? invalidParameter('account', 'does not exist') : new ServiceError('subaccountUnknown')
}

/** Returns the date range of a question. Throws the errors of {@link requireSpan}. */
export function spanOf({ first, last }: Pick<Question, 'first' | 'last'>, today: string, most: number): Span {
  // In a client's time zone east of the account's, today can be the account's tomorrow.
  const span = { first, last: last ?? (first > today ? first : today) }
  requireSpan(span, most)
  return span
}

/** Characters of the longest name that anything is counted by: a response has the name once for each period. */
const MAX_NAME = 255

/** Throws parameterInvalid for what no name can be: one that is too long, or with NUL, which the database does not accept in texts. */
export function requireText(text: string, parameter: string): void {
  if (text.length > MAX_NAME) throw invalidParameter(parameter, `must have at most ${MAX_NAME} characters`)
  if (text.includes('\0')) throw invalidParameter(parameter, 'must not contain NUL')
}
