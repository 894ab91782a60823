import { setFlagsFromString } from 'node:v8'
import { type Core, createCore } from './core.ts'
import type { Share } from './messages/index.ts'
import { type Config, ConfigError, readConfig } from './platform/config.ts'
import { databaseErrorCode, isDatabaseAway, openDatabase } from './platform/database/database.ts'
import { migrate } from './platform/database/migrate.ts'
import { createLog, type Log } from './platform/log.ts'

/** Exit status of a process whose settings are wrong or whose port is taken: starting it again would not help (sysexits EX_CONFIG). */
export const EXIT_CONFIG = 78
/** Everything in hand is finished or given back within this after SIGTERM. */
const DRAIN_MS = 28_000
/**
 * How much the heap may grow, in percent of what is alive, before all of it is collected. What lives here is small and what passes
 * through it much: as V8 has it, a relay that took 500 messages of 100 kB a second collected its 20 MB four times a second and
 * spent half its processor time on that, while an API under load let its heap grow to twice of what it does now.
 */
const HEAP_GROWTH = 150
/** Between two signs of life to the supervisor. */
export const ALIVE_EVERY_MS = 2000
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
  /** Instead of {@link HEAP_GROWTH}. */
  readonly heapGrowth?: number
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
  setFlagsFromString(`--heap-growing-percent=${options.heapGrowth ?? HEAP_GROWTH}`)
  const config = settings(options)
  const log = createLog(options.name, config.logLevel)
  process.on('unhandledRejection', (reason) => die(log, reason))
  process.on('uncaughtException', (error) => die(log, error))
  showLife()
  try {
    const running = await start({ config, log })
    onStop(log, running.close)
    log.info('started')
    process.send?.('ready')
  } catch (error) {
    fail(log, config, error)
  }
}

/** For a process that works on the database: opens it, brings its schema up to date, and does the housekeeping. */
export function withCore(
  { name, connections, share }: { name: string; connections: number; share?: Share },
  start: (context: ServiceContext) => Promise<RunningProcess>,
): (context: ProcessContext) => Promise<RunningProcess> {
  return async ({ config, log }) => {
    const sql = openDatabase({ url: requireDatabase(config), name, connections })
    await withPatience(log, () => migrate(sql))
    const core = createCore({ sql, config, log, ...(share ? { share } : {}) })
    if (await core.events.continueAfterRestore())
      log.warn('the database was restored from a dump: events go on behind those it has')
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
      if (!isDatabaseAway(error) || attempt > 60) throw error
      if (attempt === 1) log.warn({ code: databaseErrorCode(error) }, 'waiting for the database')
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  }
}

/**
 * Tells the supervisor, if there is one, that the main loop turns, from before anything is waited for: a process that waits for its
 * database lives.
 */
function showLife(): void {
  const tell = () => process.connected && process.send?.('alive', undefined, undefined, () => {})
  if (process.send) setInterval(tell, ALIVE_EVERY_MS).unref()
  tell()
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

function fail(log: Log, config: Config, error: unknown): never {
  const problem = error instanceof ConfigError ? error.message : listenProblem(config, error)
  if (problem === undefined) return die(log, error)
  process.stderr.write(`postrider: ${problem}\n`)
  process.exit(EXIT_CONFIG)
}

/** What is wrong with the setting behind a port or an address that can't be listened on; undefined for any other error. */
function listenProblem(config: Config, error: unknown): string | undefined {
  const { code, syscall, port, address, hostname } = error as NodeJS.ErrnoException & Record<string, unknown>
  const { apiPort, relayPort, relayTlsPort, sandboxSmtpPort, sandboxHttpPort, apiHost, relayHost, sandboxHost } = config
  const ports = {
    API_PORT: apiPort,
    RELAY_PORT: relayPort,
    RELAY_TLS_PORT: relayTlsPort,
    SANDBOX_SMTP_PORT: sandboxSmtpPort,
    SANDBOX_HTTP_PORT: sandboxHttpPort,
  }
  const hosts = { API_HOST: apiHost, RELAY_HOST: relayHost, SANDBOX_HOST: sandboxHost }
  const naming = (settings: Record<string, unknown>, value: unknown): string =>
    Object.keys(settings)
      .filter((name) => settings[name] === value)
      .join(' or ')

  if (syscall === 'getaddrinfo' && naming(hosts, hostname)) {
    return `${naming(hosts, hostname)}: the host name ${hostname} is unknown; set an address of this machine`
  }
  if (syscall !== 'listen') return undefined
  const setting = naming(ports, port)
  if (code === 'EADDRINUSE') return `port ${port} is in use: stop what listens there, or set ${setting} to another port`
  if (code === 'EACCES') return `port ${port} may be opened by root only: set ${setting} to one above 1023`
  if (code === 'EADDRNOTAVAIL') return `${naming(hosts, address)}: ${address} is not an address of this machine`
  return undefined
}

/** We are wrong: say so once and leave; the supervisor starts a fresh process, and what was in hand is taken over. */
function die(log: Log, error: unknown): never {
  log.fatal({ err: error }, 'fault')
  process.exit(1)
}
