import { connectionsOf, DATABASE_PROGRAMS, type DatabaseActivity } from '@postrider/core'
import type { Check } from './check.ts'
import { bad, type CheckResult, counted, firstOf, ok, spanText, warn } from './check-result.ts'
import type { Readings } from './readings.ts'

/** Seconds. An open transaction keeps dead rows of the queue, and one that may write events delays their numbers. */
const TRANSACTION = { warn: 300, bad: 3600 }
/** Dead rows of one table. */
const DEAD_ROWS = { warn: 100_000, bad: 5_000_000 }

export const loadChecks: readonly Check[] = [
  { area: 'database', name: 'connections', database: true, run: checkConnections },
  { area: 'database', name: 'autovacuum', database: true, run: checkAutovacuum },
  { area: 'database', name: 'dead rows', database: true, run: checkDeadRows },
  { area: 'database', name: 'transactions', database: true, run: checkTransactions },
  { area: 'database', name: 'locks', database: true, run: checkLocks },
]

async function checkConnections({ server, activity, workers }: Readings): Promise<CheckResult> {
  const { connections, maxConnections, reservedConnections } = await server()
  const usable = maxConnections - reservedConnections
  const { needed, processes, used } = demandOf(await activity(), (await workers()).length)
  const expected = connections - used + Math.max(needed, used)
  const open =
    processes === 0 ? '' : `; ${counted(processes, 'process', 'processes')} of this service open up to ${needed}`
  const text = `${connections} of ${usable} are in use${open}`
  const fix = `set max_connections to at least ${Math.ceil((expected * 1.25 + reservedConnections) / 10) * 10} and restart the server, or run fewer processes`
  if (connections >= usable - 3) return bad(text, fix)
  return expected > usable ? warn(text, fix) : ok(text)
}

/**
 * The connections that the service opens under load. Its processes are not listed anywhere, except for workers: where there are more
 * connections than one process opens, there are several.
 */
export function demandOf({ programs }: Pick<DatabaseActivity, 'programs'>, workers: number) {
  let [needed, processes] = [0, 0]
  for (const program of DATABASE_PROGRAMS) {
    const each = connectionsOf(program)
    const seen = programs.filter((one) => one.program === program)
    const bySessions = seen.reduce((sum, { sessions }) => sum + Math.ceil(sessions / each), 0)
    const count = program === 'delivery' ? Math.max(workers, bySessions) : bySessions
    processes += count
    needed += count * each
  }
  return { needed, processes, used: programs.reduce((sum, { sessions }) => sum + sessions, 0) }
}

async function checkAutovacuum({ server, tables }: Readings): Promise<CheckResult> {
  const [{ vacuumOff }, { vacuumOff: without }] = [await server(), await tables()]
  if (vacuumOff.length > 0)
    return bad(
      `${vacuumOff.join(' and ')} off, so dead rows of the queue are never removed`,
      `${vacuumOff.map((name) => `ALTER SYSTEM SET ${name} = on`).join('; ')}; SELECT pg_reload_conf()`,
    )
  if (without.length > 0)
    return bad(
      `autovacuum is off for ${firstOf(without)}`,
      without.map((name) => `ALTER TABLE ${name} RESET (autovacuum_enabled)`).join('; '),
    )
  return ok('on')
}

async function checkDeadRows({ tables }: Readings): Promise<CheckResult> {
  const { dead } = await tables()
  const many = dead.filter((table) => table.dead > DEAD_ROWS.warn && table.dead > table.live)
  const [worst] = many
  if (worst === undefined) return ok('no table has more dead rows than live ones')
  const text = `more dead rows than live ones: ${firstOf(many.map((one) => `${one.table} (${one.dead})`))}`
  const fix = `end long transactions, then: VACUUM (ANALYZE) ${worst.table}`
  return worst.dead > DEAD_ROWS.bad ? bad(text, fix) : warn(text, fix)
}

async function checkTransactions({ activity }: Readings): Promise<CheckResult> {
  const { transactions, prepared } = await activity()
  const [forgotten] = prepared
  if (forgotten && forgotten.seconds > TRANSACTION.warn)
    return bad(
      `a prepared transaction has been open for ${spanText(forgotten.seconds)}: ${forgotten.name}`,
      `COMMIT PREPARED '${forgotten.name}' or ROLLBACK PREPARED '${forgotten.name}'`,
    )
  const [oldest] = transactions
  if (oldest === undefined || oldest.seconds <= TRANSACTION.warn)
    return ok(oldest ? `the oldest has been open for ${spanText(oldest.seconds)}` : 'none is open')
  const text = `a transaction has been open for ${spanText(oldest.seconds)} (${
    oldest.program || 'unnamed ' + 'program'
  }, ${oldest.state}); until it ends, dead rows stay, and events get no numbers if it wrote any`
  const fix = `end it: SELECT pg_terminate_backend(${oldest.pid})`
  return oldest.seconds > TRANSACTION.bad ? bad(text, fix) : warn(text, fix)
}

async function checkLocks({ activity }: Readings): Promise<CheckResult> {
  const { blocked } = await activity()
  return blocked === 0
    ? ok('no session has waited for a lock for 10 s')
    : warn(
        `${counted(blocked, 'session')} waited for a lock for 10 s or more`,
        'SELECT pid, pg_blocking_pids(pid), query FROM pg_stat_activity WHERE cardinality(pg_blocking_pids(pid)) > 0 shows what blocks them',
      )
}
