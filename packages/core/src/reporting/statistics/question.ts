import type { SqlTransaction } from '../../platform/database/database.ts'
import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import type { Subject } from './metrics.ts'
import { requireSpan, type Span } from './periods.ts'
import { countNames } from './read.ts'
import type { Question } from './stats.ts'

/** Maximum counts of single names read per response: about 170 ms of processor time at 3.5 µs each, or 7 µs with delivery times. */
const MAX_COUNTS_READ = { plain: 50_000, withTimes: 25_000 }

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

/** Throws parameterInvalid for NUL, which the database does not accept in texts. */
export function requireText(text: string, parameter: string): void {
  if (text.includes('\0')) throw invalidParameter(parameter, 'must not contain NUL')
}

/** Limits the number of counts of single names. Throws parameterInvalid (enddate). */
export async function requireFewNames(
  sql: SqlTransaction,
  { times, ...question }: { accountId: number; subject: Subject | 'subaccount'; span: Span; times: boolean },
): Promise<void> {
  const most = times ? MAX_COUNTS_READ.withTimes : MAX_COUNTS_READ.plain
  if ((await countNames(sql, { ...question, most })) <= most) return
  throw invalidParameter('enddate', `date range would read more than ${most} counters; use a shorter date range`)
}
