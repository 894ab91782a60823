import { type Config, ConfigError, readConfig } from './config.ts'
import { type Core, createCore } from './core.ts'
import { openDatabase } from './database.ts'
import { createLog, type Log } from './log.ts'
import { migrate } from './migrate.ts'

/** Exit status of a process whose settings are wrong or whose port is taken: starting it again would not help (sysexits EX_CONFIG). */
export const EXIT_CONFIG = 78
/** Everything in hand is finished or given back within this after SIGTERM. */
const DRAIN_MS = 28_000
/** Between rounds of housekeeping. */
const TIDY_EVERY_MS = 60_000

export interface ProcessContext {
  readonly config: Config
  readonly log: Log
}

export interface ServiceContext extends ProcessContext {
  readonly core: Core
}

export interface ProcessOptions {
  readonly name: string
  readonly env: NodeJS.ProcessEnv
}

/** What a process answers once it works: how to stop it. */
export interface RunningProcess {
  /** Takes nothing new at once, finishes what is in hand. */
  close(): Promise<void>
}

/**
 * The life of every process: settings, log, then `start`; SIGTERM, SIGINT or the loss of the supervisor drain it. The caller is
 * the process file, which alone reads the environment.
 */
export async function runProcess(
  options: ProcessOptions,
  start: (context: ProcessContext) => Promise<RunningProcess>,
): Promise<void> {
  const config = settings(options)
  const log = createLog(options.name, config.logLevel)
  process.on('unhandledRejection', (reason) => die(log, reason))
  process.on('uncaughtException', (error) => die(log, error))
  try {
    const running = await start({ config, log })
    onStop(log, running.close)
    log.info('started')
    process.send?.('ready')
  } catch (error) {
    fail(log, error)
  }
}

/** For a process that works on the database: opens it, brings its schema up to date, and does the housekeeping. */
export function withCore(
  { name, connections }: { name: string; connections: number },
  start: (context: ServiceContext) => Promise<RunningProcess>,
): (context: ProcessContext) => Promise<RunningProcess> {
  return async ({ config, log }) => {
    const sql = openDatabase({ url: requireDatabase(config), name, connections })
    await withPatience(log, () => migrate(sql))
    const core = createCore({ sql, config, log })
    await core.readiness.check()
    const running = await start({ config, log, core })
    const tidying = setInterval(() => void core.tidy().catch((err) => log.warn({ err }, 'tidy failed')), TIDY_EVERY_MS)
    return {
      async close() {
        clearInterval(tidying)
        await running.close()
        await core.close()
      },
    }
  }
}

/** Throws {@link ConfigError} when there is no database to use. */
export function requireDatabase(config: Config): string {
  if (config.databaseUrl) return config.databaseUrl
  throw new ConfigError(
    'DATABASE_URL',
    `is not set, and no embedded database runs in ${config.dataDir}: set it, or use npm start`,
  )
}

function settings({ name, env }: ProcessOptions): Config {
  try {
    return readConfig(env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`postrider ${name}: ${error.message}\n`)
    process.exit(EXIT_CONFIG)
  }
}

/** A database that is still coming up is waited for; every other failure ends the process. */
async function withPatience(log: Log, act: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await act()
      return
    } catch (error) {
      const code = (error as { code?: string }).code ?? ''
      const coming = /^(ECONN|CONN|ENOTFOUND|EAI_AGAIN|57P03|08)/.test(code)
      if (!coming || attempt > 60) throw error
      if (attempt === 1) log.warn({ code }, 'waiting for the database')
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  }
}

function onStop(log: Log, close: () => Promise<void>): void {
  let stopping = false
  const stop = (why: string) => {
    if (stopping) return
    stopping = true
    log.info({ why }, 'stopping')
    const patience = setTimeout(() => {
      log.error('not everything was finished in time')
      process.exit(1)
    }, DRAIN_MS)
    patience.unref()
    close().then(
      () => {
        log.info('stopped')
        process.exit(0)
      },
      (error: unknown) => die(log, error),
    )
  }
  process.on('SIGTERM', () => stop('SIGTERM'))
  process.on('SIGINT', () => stop('SIGINT'))
  // The supervisor is gone: nobody would restart or stop us any more.
  process.on('disconnect', () => stop('the supervisor is gone'))
}

function fail(log: Log, error: unknown): never {
  const { code, message, port } = error as { code?: string; message?: string; port?: number }
  if (error instanceof ConfigError || ['EADDRINUSE', 'EADDRNOTAVAIL', 'EACCES'].includes(code ?? '')) {
    process.stderr.write(`postrider: ${code === 'EADDRINUSE' ? `port ${port} is in use; set another one` : message}\n`)
    process.exit(EXIT_CONFIG)
  }
  return die(log, error)
}

/** We are wrong: say so once and leave; the supervisor starts a fresh process, and what was in hand is taken over. */
function die(log: Log, error: unknown): never {
  log.fatal({ err: error }, 'fault')
  process.exit(1)
}
