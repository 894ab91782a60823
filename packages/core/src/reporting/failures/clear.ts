import { type Actor, noteChange } from '../../accounts/audit/index.ts'
import type { AnySql, Sql } from '../../platform/database/database.ts'
import { browse, count } from './browse.ts'
import type { FailureKind } from './failure.ts'

export interface FailuresToClear {
  readonly accountId: number
  readonly kind: FailureKind
  /** In lower case. If undefined, all. */
  readonly emails?: readonly string[] | undefined
  readonly by: Actor
}

/** Removes addresses from a list until they fail again, and returns how many were on it. */
export async function clear(sql: Sql, { accountId, kind, emails, by }: FailuresToClear): Promise<number> {
  return sql.begin(async (transaction) => {
    const filter = { kind, limit: emails?.length ?? 0, offset: 0 }
    const found = emails && (await browse(transaction, accountId, { ...filter, emails }))
    const removed = found?.length ?? (await count(transaction, accountId, filter))
    if (removed === 0) return 0
    if (!found) await transaction`delete from cleared_failures where account_id = ${accountId} and kind = ${kind}`
    // Sorted, so that concurrent calls cannot deadlock.
    const addresses = found ? found.map(({ email }) => email).sort() : ['']
    await transaction`
      insert into cleared_failures (account_id, kind, address)
      select ${accountId}::int, ${kind}, address from unnest(${addresses}::text[]) as given(address)
      on conflict (account_id, kind, address) do update set until = excluded.until`
    const before = { kind, removed }
    await noteChange(transaction, { accountId, by, action: 'failures.clear', object: 'failures', before })
    return removed
  })
}

/** Days by which events may be kept longer than EVENT_DAYS: a week of them is dropped as a whole. */
const SPARE_DAYS = 14

/** Deletes some that are older than all events. Returns their number. */
export async function forgetCleared(sql: AnySql, eventDays: number): Promise<number> {
  const { count } = await sql`
    delete from cleared_failures where (account_id, kind, address) in (
      select account_id, kind, address from cleared_failures
       where until < service_now() - make_interval(days => ${eventDays + SPARE_DAYS}) order by until limit 1000)`
  return count
}
