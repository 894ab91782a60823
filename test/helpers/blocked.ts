import { openDatabase } from '@postrider/core'
import type { Test } from 'tap'
import type { SqlTransaction } from '../../packages/core/src/platform/database/database.ts'
import { until } from './until.ts'

/** Another session on the database of a service, with a transaction that stays open until `act` is over. */
export async function holding<T>(
  t: Test,
  { env }: { readonly env: Readonly<Record<string, string>> },
  act: (locker: SqlTransaction) => Promise<T>,
): Promise<T> {
  const session = openDatabase({ url: env.DATABASE_URL as string, name: 'test', connections: 1 })
  t.teardown(() => session.end({ timeout: 0 }))
  return (await session.begin(act)) as T
}

/** Waits until `count` sessions of this database wait for a lock, or `isOver` answers true. */
export async function untilBlocked(
  locker: SqlTransaction,
  count: number,
  isOver: () => boolean = () => false,
): Promise<void> {
  await until(`${count} sessions to wait for a lock`, async () => {
    // Within a transaction the list is read once, otherwise.
    await locker`select pg_stat_clear_snapshot()`
    const blocked = await locker`
      select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    return blocked.length >= count || isOver()
  })
}
