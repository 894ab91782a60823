import { accessSync, constants, mkdirSync } from 'node:fs'
import {
  type Config,
  ConfigError,
  type Core,
  createCore,
  createLog,
  isDatabaseAway,
  migrate,
  openDatabase,
} from '@postrider/core'
import { CommandError } from './command.ts'
import { startEmbeddedPostgres } from './embedded-postgres/index.ts'

/** Runs `act` on this installation's database: the `external` one, or the embedded one, which is started for the time when it isn't running. */
export async function withInstallation<T>(
  config: Config,
  external: string | undefined,
  act: (core: Core) => Promise<T>,
): Promise<T> {
  if (external) return onDatabase(config, external, act)
  ensureDataDir(config)
  const embedded = await startEmbeddedPostgres({ dataDir: config.dataDir })
  try {
    return await onDatabase(config, embedded.url, act)
  } finally {
    await embedded.stop()
  }
}

/**
 * Brings the schema up to date and runs `act` on it.
 *
 * Throws {@link CommandError} when the database can't be used, or is of an installation with another SECRET_KEY: what one
 * would seal, the others could not read.
 */
export async function onDatabase<T>(config: Config, url: string, act: (core: Core) => Promise<T>): Promise<T> {
  // The secret key is kept there when the environment has none.
  if (!config.secretKey) ensureDataDir(config)
  const sql = openDatabase({ url, name: 'command', connections: 2 })
  try {
    await migrate(sql)
    const core = createCore({ sql, config, log: createLog('command', 'silent') })
    try {
      const { ready, reasons } = await core.readiness.check()
      if (!ready) throw new CommandError(reasons.join('; '))
      return await act(core)
    } finally {
      core.readiness.close()
    }
  } catch (error) {
    throw unusable(error) ?? error
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** Throws {@link ConfigError}. */
export function ensureDataDir({ dataDir }: Config): void {
  try {
    mkdirSync(dataDir, { recursive: true })
    accessSync(dataDir, constants.W_OK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new ConfigError('DATA_DIR', `must be a folder this user can write to; ${dataDir} is not (${code})`)
  }
}

/** SQLSTATE classes 28 (who are you), 3D (which database), 42501 (may not) are settings, too. */
function unusable(error: unknown): CommandError | undefined {
  const { code = '', message = '' } = error as { code?: string; message?: string }
  const said = message || code
  if (isDatabaseAway(error)) {
    return new CommandError(`the database does not answer (${said}): is it running, and is DATABASE_URL right?`)
  }
  if (/^(28|3D|42501)/.test(code)) return new CommandError(`DATABASE_URL: ${said}`)
  return undefined
}
