import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Config,
  ConfigError,
  type Core,
  commitsWait,
  connectProblem,
  createCore,
  createLog,
  DatabaseUnfit,
  databaseErrorCode,
  findStandbyHosts,
  isDatabaseAway,
  keyMark,
  loadSecrets,
  migrate,
  missingStandbys,
  openDatabase,
  pendingMigrations,
  readSyncStandby,
  requireFitDatabase,
  type Sql,
  type SyncStandby,
  standbyProblems,
  unmetText,
  withDeadline,
} from '@postrider/core'
import { CommandError } from './command.ts'
import { ensureDataDir } from './embedded-postgres/data-folder.ts'
import { startEmbeddedPostgres } from './start-postgres.ts'

/** Runs `act` on this installation's database: the `external` one, or the embedded one, started for this call if it is not running. */
export function withInstallation<T>(
  config: Config,
  external: string | undefined,
  act: (core: Core) => Promise<T>,
  warn?: (sentence: string) => void,
): Promise<T> {
  return atDatabase(config, external, (url) => onDatabase(config, url, act, warn))
}

/** Calls `act` with the URL of the database: the `external` one, or the embedded one, started for this call if it is not running. */
async function atDatabase<T>(
  config: Config,
  external: string | undefined,
  act: (url: string) => Promise<T>,
): Promise<T> {
  if (external) return act(external)
  ensureDataDir(config)
  const embedded = await startEmbeddedPostgres({ dataDir: config.dataDir, backups: config.backups?.address })
  try {
    return await act(embedded.url)
  } finally {
    await embedded.stop()
  }
}

/** Migrates the schema and runs `act` on the database of this installation, even if it is not ready for use. */
export function withUnreadyDatabase<T>(
  config: Config,
  external: string | undefined,
  act: (sql: Sql) => Promise<T>,
): Promise<T> {
  if (!external) requireInstallation(config)
  return atDatabase(config, external, (url) =>
    withPool(url, undefined, async (sql) => {
      const asked = withDeadline(sql, 'mail')
      const [{ isRecovering }] = await asked<[{ isRecovering: boolean }]>`select pg_is_in_recovery() as "isRecovering"`
      if (isRecovering)
        throw new CommandError('Postgres is still recovering, or is a standby; repeat this when it accepts writes')
      const standby = await readSyncStandby(sql)
      if (commitsWait(standby)) throw new CommandError(refusal(standby))
      await requireFitDatabase(sql, { toMigrate: true })
      await migrate(sql)
      return act(sql)
    }),
  )
}

/** The first line of a command that works nevertheless; undefined if nothing is wrong. `problems` are those of REQUIRE_SYNC_STANDBY. */
function standbyWarning(standby: SyncStandby, problems: readonly string[]): string | undefined {
  const missing = missingStandbys(standby)
  if (commitsWait(standby))
    return `${missing}, and commits wait for ${standby.connected === 0 ? 'one' : 'another one'}, so this command can read, but change nothing`
  if (problems.length === 0) return undefined
  if (standby.connected > 0 || standby.isHidden) return `the service accepts no mail: ${problems.join('; ')}`
  return `${missing}, so the service accepts no mail (REQUIRE_SYNC_STANDBY)`
}

function refusal({ names, connected }: SyncStandby): string {
  const [one, fewer] = connected === 0 ? ['a', "''"] : ['another', `'ANY ${connected} (*)'`]
  return (
    `a change would wait until ${one} synchronous standby is connected (synchronous_standby_names = '${names}'), so nothing was changed: connect ` +
    `one, or set synchronous_standby_names = ${fewer} on this server${connected === 0 ? ' (and REQUIRE_SYNC_STANDBY=0)' : ''} until one is`
  )
}

/**
 * Migrates the schema, unless MIGRATE=manual, and runs `act` on the database. Without a synchronous standby that REQUIRE_SYNC_STANDBY asks
 * for, only mail is refused. If the server's commits wait for one, `act` can only read: a command that changes something ends at once
 * instead of hanging.
 *
 * Throws {@link CommandError} if the database cannot be used, or belongs to an installation with another SECRET_KEY: processes with
 * different keys cannot decrypt each other's secrets.
 */
export async function onDatabase<T>(
  config: Config,
  url: string,
  act: (core: Core) => Promise<T>,
  warn: (sentence: string) => void = () => {},
): Promise<T> {
  // Without SECRET_KEY in the environment, the secret key is stored in DATA_DIR.
  if (!config.secretKey) ensureDataDir(config)
  const mark = keyMark(loadSecrets(config))
  return withPool(url, mark, async (sql) => {
    // With a deadline: without one, a pool that finds no primary among the hosts of its URL tries them for ever.
    const standby = await readSyncStandby(withDeadline(sql, 'mail'))
    if (!commitsWait(standby)) {
      await requireFitDatabase(sql, { toMigrate: config.migrate === 'auto' })
      if (config.migrate === 'auto') await migrate(sql)
      return onReadyPool(config, sql, act, { standby, warn })
    }
    if (config.migrate === 'auto' && (await pendingMigrations(sql)).length > 0) throw new CommandError(refusal(standby))
    const reading = withPool(url, mark, (pool) => onReadyPool(config, pool, act, { standby, warn }), true)
    return reading.catch((error: unknown) => {
      throw databaseErrorCode(error) === READ_ONLY ? new CommandError(refusal(standby)) : error
    })
  })
}

/** SQLSTATE of a change in a read-only transaction. */
const READ_ONLY = '25006'

async function onReadyPool<T>(
  config: Config,
  sql: Sql,
  act: (core: Core) => Promise<T>,
  { standby, warn }: { readonly standby: SyncStandby; readonly warn: (sentence: string) => void },
): Promise<T> {
  const core = createCore({ sql, config, log: createLog('command', 'silent') })
  try {
    const { reasons } = await core.readiness.check()
    const mailOnly = config.requireSyncStandby ? standbyProblems(standby) : []
    const others = reasons.filter((reason) => !mailOnly.includes(reason))
    if (others.length > 0) throw new CommandError(others.join('; '))
    const warning = standbyWarning(standby, mailOnly)
    if (warning !== undefined) warn(warning)
    return await act(core)
  } finally {
    core.readiness.close()
  }
}

async function withPool<T>(
  url: string,
  mark: string | undefined,
  act: (sql: Sql) => Promise<T>,
  readOnly = false,
): Promise<T> {
  const sql = openDatabase({ url, name: 'command', connections: 2, keyMark: mark, readOnly })
  try {
    return await act(sql)
  } catch (error) {
    throw (await toCommandError(error, sql)) ?? error
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** Whether the embedded database was created in DATA_DIR. */
export function hasEmbeddedDatabase({ dataDir }: Config): boolean {
  return existsSync(join(dataDir, 'postgres'))
}

/** Throws {@link ConfigError} if DATA_DIR has no embedded database: a command would create an empty one, and find nothing in it. */
export function requireInstallation(config: Config): void {
  if (hasEmbeddedDatabase(config)) return
  throw new ConfigError(
    'DATA_DIR',
    `has no database (${config.dataDir}): set it to the folder of the installation, or set DATABASE_URL; "npm start" creates a new one`,
  )
}

export const PROMOTE = 'if the primary is lost, promote a standby (docs/runbooks.md#failover)'

/** Of {@link findStandbyHosts}. */
export function standbysText(hosts: readonly string[]): string {
  const is = hosts.length === 1 ? 'responds, but is a standby' : 'respond, but are standbys'
  return `${hosts.join(' and ')} ${is}`
}

/** Refusals of the server and of its sessions mean a wrong setting, too. */
async function toCommandError(error: unknown, sql: Sql): Promise<CommandError | undefined> {
  if (error instanceof DatabaseUnfit) return new CommandError(`DATABASE_URL: ${error.message}`)
  const { code, message } = error as { code?: string; message?: string }
  const known = connectProblem(error)
  if (!isDatabaseAway(error)) return known && new CommandError(`DATABASE_URL: ${unmetText(known)}`)
  const { problem, fix } = known ?? {
    problem: message || code,
    fix: 'check that it is running and that DATABASE_URL is correct',
  }
  const standbys = await findStandbyHosts(sql)
  if (standbys.length > 0)
    return new CommandError(`no primary responds (${problem}); ${standbysText(standbys)}: ${PROMOTE}`)
  return new CommandError(`could not connect to the database (${problem}); ${fix}`)
}
