import { statfsSync } from 'node:fs'
import {
  type DatabaseFacts,
  findPrimaryHosts,
  judgeNeed,
  type NeedName,
  PROBLEM_OF_POOLER,
  type PrimaryHost,
  readRestore,
  SchemaTooOld,
  sharesSessions,
} from '@postrider/core'
import { bodyStoreCheck } from './body-store-check.ts'
import type { Check } from './check.ts'
import { bad, bytesText, type CheckResult, counted, firstOf, ok, spanText, warn } from './check-result.ts'
import type { Readings } from './readings.ts'

/** Milliseconds by which the clock of this host may differ: signatures and certificates allow for more, comparisons of logs do not. */
const CLOCK = { warn: 2000, bad: 60_000 }
/** Of some 2,100 million transactions, after which the server accepts no writes. Autovacuum begins at 200 million. */
const TRANSACTION_AGE = { warn: 600_000_000, bad: 1_500_000_000 }
const FREE_BYTES = { warn: 2 * 2 ** 30, bad: 256 * 2 ** 20 }

/** The state of the server itself. Its load is in load-checks.ts. */
export const databaseChecks: readonly Check[] = [
  {
    area: 'database',
    name: 'version',
    database: true,
    run: checkNeed('version', ({ version }) => `Postgres ${version}`),
  },
  { area: 'database', name: 'encoding', database: true, run: checkNeed('encoding', ({ encoding }) => encoding) },
  {
    area: 'database',
    name: 'settings',
    database: true,
    run: checkNeed('settings', () => 'sessions have the settings that the service needs'),
  },
  { area: 'database', name: 'pooler', database: true, run: checkPooler },
  {
    area: 'database',
    name: 'rights',
    database: true,
    run: checkNeed('rights', ({ role, schema }) => `${role} may create tables in the schema ${schema}`),
  },
  { area: 'database', name: 'primary', database: true, run: checkPrimary },
  { area: 'database', name: 'clock', database: true, run: checkClock },
  { area: 'database', name: 'durability', database: true, run: checkDurability },
  { area: 'database', name: 'checksums', database: true, run: checkChecksums },
  { area: 'database', name: 'migrations', database: true, run: checkMigrations },
  { area: 'database', name: 'restore', database: true, run: checkRestore },
  { area: 'database', name: 'partitions', database: true, run: checkPartitions },
  { area: 'database', name: 'transaction ids', database: true, run: checkTransactionIds },
  { area: 'database', name: 'disk', database: true, run: checkDisk },
  bodyStoreCheck,
]

/** A check that start and readiness make, too. `well` returns the text for a need that is met. */
function checkNeed(name: NeedName, well: (facts: DatabaseFacts) => string) {
  return async ({ facts, config }: Readings): Promise<CheckResult> => {
    const read = await facts()
    const unmet = judgeNeed(name, read) ?? (name === 'rights' ? judgeNeed('owner', read) : undefined)
    if (!unmet) return ok(well(read))
    // Without migrations, the owner makes the tables.
    return name === 'rights' && read.otherOwner === null && config.migrate === 'manual'
      ? warn(unmet.problem, OWNER_MIGRATES)
      : bad(unmet.problem, unmet.fix)
  }
}

const OWNER_MIGRATES =
  'MIGRATE is manual, but processes create a partition per week: grant the right, or have the role act as the owner (docs/postgres.md#rights)'

async function checkPooler({ sql }: Readings): Promise<CheckResult> {
  return (await sharesSessions(sql()))
    ? bad(PROBLEM_OF_POOLER.problem, PROBLEM_OF_POOLER.fix)
    : ok('each connection has a session of its own')
}

async function checkPrimary({ server, facts, sql }: Readings): Promise<CheckResult> {
  const { isStandby } = await server()
  if (isStandby)
    return bad(
      'this server is a standby, which stores no mail',
      'set DATABASE_URL to the primary, or list all hosts and add target_session_attrs=primary',
    )
  const unmet = judgeNeed('writable', await facts())
  if (unmet) return bad(unmet.problem, unmet.fix)
  const { host: hosts, target_session_attrs: wanted } = sql().options
  if (hosts.length < 2) return ok('this server accepts writes')
  const primaries = await findPrimaryHosts(sql())
  if (primaries.length > 1) return bad(...severalPrimaries(primaries))
  return wanted === 'primary'
    ? ok('this server accepts writes')
    : warn(
        'DATABASE_URL names several hosts without target_session_attrs=primary, so processes may use a standby after a failover',
        'add target_session_attrs=primary to DATABASE_URL, and restart the processes',
      )
}

/** A server that was replaced has come back as a primary. */
function severalPrimaries(primaries: readonly PrimaryHost[]): [text: string, fix: string] {
  const [latest, second] = primaries
  const name = latest && latest.timeline !== second?.timeline ? ` (${latest.address})` : ''
  return [
    `several hosts of DATABASE_URL accept writes, and each stores some of the mail: ${firstOf(primaries.map(({ address }) => address))}`,
    `stop all now but the one that was promoted last${name}, and rebuild them as standbys (docs/runbooks.md#failover)`,
  ]
}

async function checkClock({ server }: Readings): Promise<CheckResult> {
  const { hostAhead } = await server()
  const off = Math.abs(hostAhead)
  if (off <= CLOCK.warn) return ok("agrees with this host's")
  const text = `the clock of this host is ${spanText(off / 1000)} ${hostAhead > 0 ? 'ahead of' : 'behind'} the database's`
  const fix = 'have both synchronized by NTP: "timedatectl set-ntp true" on each host'
  return off > CLOCK.bad ? bad(text, fix) : warn(text, fix)
}

async function checkDurability({ server, config }: Readings): Promise<CheckResult> {
  const { unsafe } = await server()
  if (unsafe.length === 0) return ok('fsync, full_page_writes and synchronous_commit are on')
  const statements = unsafe.map((name) => `ALTER SYSTEM SET ${name} = on`)
  const effect = config.allowUnsafeDatabase ? '' : '; the processes accept no mail'
  return bad(
    `${unsafe.join(', ')} ${unsafe.length === 1 ? 'is' : 'are'} off, so accepted mail could be lost${effect}`,
    `${statements.join('; ')}; SELECT pg_reload_conf(); also see ALTER DATABASE and ALTER ROLE settings`,
  )
}

async function checkChecksums({ server }: Readings): Promise<CheckResult> {
  return (await server()).hasChecksums
    ? ok('data pages have checksums')
    : warn(
        'data pages have no checksums, so damage by the disk is not noticed',
        'stop the server and run: pg_checksums --enable -D DATA_DIRECTORY',
      )
}

async function checkMigrations({ schema }: Readings): Promise<CheckResult> {
  const { pending, unknown, isEmpty, tooOld } = await schema()
  if (tooOld !== undefined) {
    const { problem, fix } = new SchemaTooOld(tooOld)
    return bad(problem, fix)
  }
  if (isEmpty) return bad('the database is empty', 'postrider migrate')
  if (pending.length > 0)
    return bad(
      `${counted(pending.length, 'migration')} of this version ${pending.length === 1 ? 'is' : 'are'} not applied: ${firstOf(pending)}`,
      'postrider migrate',
    )
  if (unknown.length > 0)
    return bad(
      `a newer version has migrated this database: ${firstOf(unknown)}`,
      'run the newer version on this host, too',
    )
  return ok('the schema is that of this version')
}

/** Of servers that were never restored to a moment, there is nothing to say. */
async function checkRestore({ sql }: Readings): Promise<CheckResult | undefined> {
  const { target, marked } = await readRestore(sql())
  if (target === '') return undefined
  return marked
    ? ok(`the server was restored (${target}), and the mail of that time was held`)
    : bad(
        `the server was restored (${target}), and the mail of its queue may have been delivered since; no process is ready`,
        'postrider restored',
      )
}

async function checkPartitions({ tables }: Readings): Promise<CheckResult> {
  const { missing } = await tables()
  const [first] = missing
  if (first === undefined) return ok('the partitions of the coming weeks exist')
  const text = `missing partitions: ${firstOf(missing.map(({ name }) => name))}`
  const fix =
    'any process creates them within a minute; if not, look for "cleanup failed" in its log, and end what locks the tables (long transactions, pg_dump)'
  return first.week <= 1 ? bad(text, fix) : warn(text, fix)
}

async function checkTransactionIds({ server }: Readings): Promise<CheckResult> {
  const { transactionAge, multixactAge } = await server()
  const age = Math.max(transactionAge, multixactAge)
  const text = `the oldest transaction id is ${Math.round(age / 1_000_000)} million transactions old`
  const fix =
    'end long transactions and unused replication slots, then run VACUUM (FREEZE) in the database of the greatest age(datfrozenxid)'
  if (age > TRANSACTION_AGE.bad) return bad(`${text}; at 2,100 million the server accepts no writes`, fix)
  return age > TRANSACTION_AGE.warn ? warn(text, fix) : ok(text)
}

/** The free space of the database's own disk is visible only if it is embedded. */
async function checkDisk({ server, config, env }: Readings): Promise<CheckResult> {
  const { size } = await server()
  const own = `the database has ${bytesText(size)}`
  if (env.DATABASE_URL) return ok(`${own}; the free space on the disk of its server is not visible from here`)
  const { bavail, bsize, blocks } = statfsSync(config.dataDir)
  const [free, all] = [bavail * bsize, blocks * bsize]
  const text = `${own}, and ${bytesText(free)} of ${bytesText(all)} are free on the disk of DATA_DIR`
  const fix =
    'free space on the disk, add some, or lower BODY_DAYS and EVENT_DAYS; a full disk stops the acceptance of mail'
  if (free < FREE_BYTES.bad) return bad(text, fix)
  return free < FREE_BYTES.warn || free < all / 20 ? warn(text, fix) : ok(text)
}
