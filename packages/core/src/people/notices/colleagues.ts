import { noteOwners } from '../../accounts/notices/note-owners.ts'
import type { AnySql, Sql } from '../../platform/database/database.ts'

/** A member of an account who gets no mail from it. */
export interface SuppressedColleague {
  readonly email: string
  readonly reason: string
  readonly since: Date
}

/** Members of one look, and those of an account that are shown. */
const CHUNK = 500
const MAX_SHOWN = 20

const suppressed = (sql: AnySql) => sql`
  join users u on u.id = m.user_id and u.email is not null and u.disabled_at is null
  join suppressions s on s.account_id = m.account_id and s.value = lower(u.email) and s.group_id = 0 and (s.held_until is null or s.held_until > service_now())`

/** Returns the members of an account whose addresses it suppresses. */
export async function selectSuppressedColleagues(sql: AnySql, accountId: number): Promise<SuppressedColleague[]> {
  return sql<SuppressedColleague[]>`
    select u.email, s.reason, s.since from memberships m ${suppressed(sql)}
     where m.account_id = ${accountId} order by s.since desc limit ${MAX_SHOWN}`
}

/** Returns a function that looks at some of the members of accounts, in turn, and notes those whose addresses their account suppresses. */
export function createColleagueLook(sql: Sql): () => Promise<void> {
  let after = [0, 0] as readonly [accountId: number, userId: number]
  return async () => {
    const [last] = await sql<{ accountId: number; userId: number; full: boolean }[]>`
      select account_id as "accountId", user_id as "userId", count(*) over () = ${CHUNK} as full
        from (select account_id, user_id from memberships where (account_id, user_id) > (${after[0]}::int, ${after[1]}::int)
               order by account_id, user_id limit ${CHUNK}) m
       order by account_id desc, user_id desc limit 1`
    if (!last) {
      after = [0, 0]
      return
    }
    const found = await sql<(SuppressedColleague & { accountId: number; userId: number; mark: string })[]>`
      select m.account_id as "accountId", m.user_id as "userId", u.email, s.reason, s.since, s.since::text as mark from memberships m ${suppressed(sql)}
       where (m.account_id, m.user_id) > (${after[0]}::int, ${after[1]}::int)
         and (m.account_id, m.user_id) <= (${last.accountId}::int, ${last.userId}::int)`
    await noteOwners(
      sql,
      found.map(({ accountId, userId, mark, email, reason }) => ({
        accountId,
        kind: 'colleague' as const,
        subject: String(userId),
        mark,
        detail: { email, reason },
      })),
    )
    after = last.full ? [last.accountId, last.userId] : [0, 0]
  }
}
