import { openSession, type Sql } from '../platform/database/database.ts'

/** Namespace of the advisory locks of imports; the second key is the account. */
const IMPORT_LOCK = 7763

/** The import that another program has in progress. */
export interface RunningImport {
  readonly since: Date
  /** Null for one on the database's host. */
  readonly address: string | null
}

/**
 * Runs an import into an account, unless another one runs: two would count each other's work as what had been there. The lock is that of a session, so that
 * an import that is killed leaves none. Returns the other one, without running this.
 */
export async function importAlone(
  sql: Sql,
  accountId: number,
  fn: () => Promise<void>,
): Promise<RunningImport | undefined> {
  const session = openSession(sql)
  try {
    const [lock] = await session<{ taken: boolean }[]>`
      select pg_try_advisory_lock(${IMPORT_LOCK}, ${accountId}::int) as taken`
    if (lock?.taken) return await fn().then(() => undefined)
    const [other] = await session<RunningImport[]>`
      select a.backend_start as since, host(a.client_addr) as address from pg_locks l join pg_stat_activity a on a.pid = l.pid
       where l.locktype = 'advisory' and l.classid = ${IMPORT_LOCK}::oid and l.objid = ${accountId}::int::oid and l.objsubid = 2 and l.granted`
    return other ?? { since: new Date(), address: null }
  } finally {
    await session.end({ timeout: 1 })
  }
}
