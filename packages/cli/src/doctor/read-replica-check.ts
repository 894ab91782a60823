import { clusterOf, openDatabase, replayState, type Sql } from '@postrider/core'
import type { Check } from './check.ts'
import { bad, type CheckResult, ok, spanText, warn } from './check-result.ts'
import type { Readings } from './readings.ts'

export const readReplicaCheck: Check = { area: 'replication', name: 'read replica', database: true, run: check }

async function check({ config, sql, server }: Readings): Promise<CheckResult | undefined> {
  if (config.databaseReadUrl === undefined) return undefined
  const standby = openDatabase({ url: config.databaseReadUrl, name: 'doctor', connections: 1 })
  try {
    return await evaluate(standby, sql(), { hostAhead: (await server()).hostAhead, maxLag: config.databaseReadMaxLag })
  } catch (error) {
    return bad(
      `the standby of DATABASE_READ_URL cannot be read, so the primary answers everything: ${(error as Error).message}`,
      'correct DATABASE_READ_URL, or start the standby',
    )
  } finally {
    await standby.end({ timeout: 1 })
  }
}

async function evaluate(
  standby: Sql,
  primary: Sql,
  { hostAhead, maxLag }: { readonly hostAhead: number; readonly maxLag: number },
): Promise<CheckResult> {
  const { isStandby, replayed } = await replayState(standby)
  if (!isStandby)
    return bad(
      'DATABASE_READ_URL leads to a server that accepts writes, not to a standby; it is not read',
      'set it to a streaming standby of DATABASE_URL, or leave it empty',
    )
  if ((await clusterOf(standby)) !== (await clusterOf(primary)))
    return bad(
      'DATABASE_READ_URL leads to a standby of another database; it is not read',
      'set it to a streaming standby of DATABASE_URL, with the same name of the database',
    )
  if (replayed === null)
    return warn('the standby has replayed nothing since its start', 'SELECT * FROM pg_stat_wal_receiver on the standby')
  const lag = Math.max(0, Date.now() - hostAhead - replayed)
  if (lag <= maxLag) return ok(`its last commit is ${spanText(lag / 1000)} old`)
  return warn(
    `its last commit is ${spanText(lag / 1000)} old, which is more than DATABASE_READ_MAX_LAG, so the primary answers`,
    'SELECT * FROM pg_stat_wal_receiver, and pg_is_wal_replay_paused(), on the standby; without any process that writes, this is usual',
  )
}
