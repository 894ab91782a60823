import type { SqlTransaction } from '../../platform/database/database.ts'
import { FORGOTTEN_AGE_MS, type Forgotten, hashedAgain } from '../../suppressions/forgotten.ts'
import type { Progress, RequestInWork, Subject } from './request.ts'

/** Seconds after which every process knows that the account has hashed opt-outs, and no statement from before is running. */
const HASHES_KNOWN_AFTER = FORGOTTEN_AGE_MS / 1000 + 5

/** First stage: announces hashed opt-outs to all processes, so that the time until they know passes during the other stages. */
export async function announceHashes(
  sql: SqlTransaction,
  { accountId }: RequestInWork,
  subjects: readonly Subject[],
): Promise<Progress> {
  await secondsAnnounced(sql, accountId, subjects)
  return { stage: 'queue' }
}

/** Announces hashed opt-outs. Returns the seconds since the first time; undefined if these recipients have no suppression. */
async function secondsAnnounced(
  sql: SqlTransaction,
  accountId: number,
  subjects: readonly Subject[],
): Promise<number | undefined> {
  await sql`
    insert into forgotten_accounts (account_id)
    select ${accountId}::int
     where exists (select from suppressions
                    where account_id = ${accountId} and value = any(${subjects.map(({ key }) => key)}::text[]))
    on conflict do nothing`
  const [row] = await sql<{ seconds: number }[]>`
    select extract(epoch from service_now() - since)::float8 as seconds from forgotten_accounts a
     where account_id = ${accountId}
       and exists (select from suppressions s
                    where s.account_id = a.account_id and s.value = any(${subjects.map(({ key }) => key)}::text[]))`
  return row?.seconds
}

/**
 * Last stage: replaces the addresses in suppressions by hashes, including those of recent bounces. It is one statement, so that
 * other sessions always see either the address or the hash.
 */
export async function hashSuppressions(
  sql: SqlTransaction,
  { accountId }: RequestInWork,
  subjects: readonly Subject[],
  forgotten: Forgotten,
): Promise<Progress> {
  const announced = await secondsAnnounced(sql, accountId, subjects)
  if (announced === undefined) return { stage: 'done' }
  if (announced < HASHES_KNOWN_AFTER) return { again: HASHES_KNOWN_AFTER - announced }
  const keys = subjects.map(({ key }) => key)
  // In the order of all writers, so that two never deadlock.
  await sql`
    select from suppressions where account_id = ${accountId} and value = any(${keys}::text[]) order by value, group_id for update`
  const hashes = keys.map((key) => forgotten.hash(accountId, key).toString('hex'))
  const deleted = await sql`
    with deleted as (
      delete from suppressions s using unnest(${keys}::text[], ${hashes}::text[]) as k(value, hash)
       where s.account_id = ${accountId} and s.value = k.value
      returning s.account_id, k.hash, s.group_id, s.reason, s.since, s.held_until, s.unsubscribed_since
    ), hashed as (
      insert into forgotten as f (account_id, hash, group_id, reason, since, held_until, unsubscribed_since)
      select account_id, decode(hash, 'hex'), group_id, reason, since, held_until, unsubscribed_since from deleted
       where held_until is null or held_until > service_now() order by hash, group_id
      ${hashedAgain(sql)}
    )
    select 1 from deleted`
  return { stage: 'done', touched: { suppressions: deleted.count } }
}
