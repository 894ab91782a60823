import { setFlagsFromString } from 'node:v8'
import { type Core, createCore } from './core.ts'
import type { Share } from './messages/index.ts'
import { type Config, ConfigError, readConfig } from './platform/config/config.ts'
import { misspeltSettings, misspeltText } from './platform/config/misspelt-settings.ts'
import { loggedCleanUp } from './platform/database/clean-up.ts'
import { connectProblem } from './platform/database/connect-problem.ts'
import { databaseErrorCode, isDatabaseAway, openDatabase, type Sql } from './platform/database/database.ts'
import { withDeadline } from './platform/database/deadlines.ts'
import { migrate, readSchemaState, SchemaTooOld } from './platform/database/migrations/migrate.ts'
import { DatabaseUnfit, requireFitDatabase, unmetText } from './platform/database/needs.ts'
import { serveMetrics } from './platform/metrics/serve-metrics.ts'
import { listenProblem } from './platform/net/listen-problem.ts'
import { type InheritedSockets, inheritedSockets } from './platform/net/listening-sockets.ts'
import { servePlainHttp } from './platform/net/plain-http.ts'
import { type HealthState, healthAnswer } from './platform/process/health.ts'
import { collectWhenIdle } from './platform/process/idle-memory.ts'
import { createLog, type Log } from './platform/process/log.ts'
import { notifyReady } from './platform/process/notify-ready.ts'
import { createProcessReport } from './platform/process/process-list.ts'
import { programBuild } from './platform/process/program-version.ts'
import { migrationsMissing } from './platform/process/schema-problems.ts'
import { createSpeech, logWarnings } from './platform/process/speech.ts'
import { type StopState, stopRequests } from './platform/process/stop-signals.ts'
import { keyMark } from './platform/security/key-rotation.ts'
import { loadSecrets } from './platform/security/secrets.ts'
import { startTracing } from './platform/tracing/tracing.ts'

/** Exit status for invalid settings or a port in use (sysexits EX_CONFIG): a restart would not help. */
export const EXIT_CONFIG = 78
/** Milliseconds within which work in progress must be finished or released. */
const DRAIN_MS = 28_000
/**
 * Growth of the heap, in percent of the live objects, that triggers a full garbage collection. The live heap is small
 * and its turnover large. With V8's default, a relay receiving 500 messages of 100 kB per second collected its 20 MB
 * heap four times per second, which took half its processor time. The heap of an API under load grew to twice its
 * present size.
 */
const HEAP_GROWTH = 150
/** Milliseconds between two heartbeats sent to the supervisor. */
export const ALIVE_EVERY_MS = 2000
/** Milliseconds between two runs of the cleanup. */
const CLEANUP_INTERVAL_MS = 60_000
/** Milliseconds that a process waits for its row in the list of processes: its stop waits for the removal. */
const LIST_MS = 2000

export interface ProcessContext {
  readonly config: Config
  readonly log: Log
  readonly stop: StopState
  readonly sockets: InheritedSockets
}

export interface ServiceContext extends ProcessContext {
  readonly core: Core
}

export interface ProcessOptions {
  readonly name: string
  readonly env: NodeJS.ProcessEnv
  /** Replaces {@link HEAP_GROWTH}. */
  readonly heapGrowth?: number
}

/** A started process: how to stop it. */
export interface RunningProcess {
  /** Whether others connect to it, so that it stays in service for DRAIN_DELAY after SIGTERM. */
  readonly isServer?: boolean
  /** Stops accepting work immediately and finishes the work in progress. */
  close(): Promise<void>
}

/**
 * Runs a process: reads the settings, creates the log, then calls `start`. SIGTERM, SIGINT or the loss of the
 * supervisor drain it. Called from the process's main file, the only place that reads the environment.
 */
export async function runProcess(
  options: ProcessOptions,
  start: (context: ProcessContext) => Promise<RunningProcess>,
): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${options.heapGrowth ?? HEAP_GROWTH}`)
  // The young generation is so small that waking V8's threads takes longer than what they collect: an HTTP call took 218 instead of 183 µs.
  setFlagsFromString('--no-parallel-scavenge')
  const { config, sockets } = settings(options)
  const log = createLog(options.name, config.logLevel, config.logFormat)
  const { complain } = createSpeech(options.name, options)
  logWarnings(options.env, complain)
  // The supervisor has told the user.
  if (!process.send) for (const one of misspeltSettings(options.env)) log.warn(misspeltText(one))
  // Read now: later, the checkout may be of another version.
  programBuild()
  process.on('unhandledRejection', (reason) => die(log, reason))
  process.on('uncaughtException', (error) => die(log, error))
  sendHeartbeats()
  collectWhenIdle()
  const stop = stopRequests()
  try {
    const running = await start({ config, log, stop, sockets })
    const delayMs = running.isServer ? config.drainDelay * 1000 : 0
    stop.handle({ log, delayMs, drainMs: DRAIN_MS, close: running.close, onError: (error) => die(log, error) })
    log.info('started')
    process.send?.('ready')
    notifyReady(options.env, log)
  } catch (error) {
    fail(log, { config, complain }, error)
  }
}

export interface DatabaseProcess {
  readonly name: string
  readonly connections: number
  /** Maximum number of connections to the standby of DATABASE_READ_URL; undefined if the process does not read it. */
  readonly standbyConnections?: number
  readonly share?: Share
  /** The process answers health checks on a port of its own, not on HEALTH_PORT. */
  readonly ownHealth?: boolean
}

/**
 * Wraps `start` for a process that uses the database: answers health checks on HEALTH_PORT and reads of its metrics on METRICS_PORT, if those
 * are set, opens the database, migrates the schema, and runs the periodic cleanup.
 */
export function withCore(
  { name, connections, standbyConnections, share, ownHealth = false }: DatabaseProcess,
  start: (context: ServiceContext) => Promise<RunningProcess>,
): (context: ProcessContext) => Promise<RunningProcess> {
  return async ({ config, log, stop, sockets }) => {
    const sql = openDatabase({ url: requireDatabase(config), name, connections, keyMark: keyMark(loadSecrets(config)) })
    let core: Core | undefined
    /** The reason why the process has not started; undefined when it has. */
    let startWaitsFor: string | undefined = STARTING
    // First of all, since they say what the start waits for.
    await serveState(ownHealth ? { ...config, healthPort: undefined } : config, {
      process: name,
      sockets,
      readiness: () =>
        core && startWaitsFor === undefined
          ? core.readiness.current()
          : { ready: false, reasons: [startWaitsFor ?? STARTING] },
      isStopping: () => stop.isStopping() && !stop.isReplaced(),
    })
    await prepareSchema({ sql, config, log, onWait: (reason) => void (startWaitsFor = reason) })
    startWaitsFor = STARTING
    const standby =
      config.databaseReadUrl !== undefined && standbyConnections !== undefined
        ? openDatabase({ url: config.databaseReadUrl, name, connections: standbyConnections })
        : undefined
    const opened = createCore({ sql, standby, config, log, ...(share ? { share } : {}) })
    core = opened
    if (await opened.events.continueAfterRestore()) log.warn('database restored from a dump; event numbering continues')
    startWaitsFor = 'waiting for the database'
    await opened.readiness.untilAnswered()
    startWaitsFor = STARTING
    const endTracing = config.tracing && (await startTracing({ name, log }, config.tracing))
    const running = await start({ config, log, stop, sockets, core: opened })
    startWaitsFor = undefined
    const cleanUp = loggedCleanUp(opened.cleanUp, log)
    const list = createProcessReport(withDeadline(sql, LIST_MS), name)
    // A row that is missing or late does no harm; others log why the database cannot be written. A start does not wait for it, during which a
    // signal would end the process at once.
    const report = () => list.report().catch(() => undefined)
    void report()
    const cleanup = setInterval(() => {
      void cleanUp()
      void report()
    }, CLEANUP_INTERVAL_MS)
    return {
      ...running,
      async close() {
        clearInterval(cleanup)
        await running.close()
        await list.end().catch(() => undefined)
        await opened.close()
        await endTracing?.()
      },
    }
  }
}

/** Returns the database URL. Throws {@link ConfigError} if there is no database to use. */
export function requireDatabase(config: Config): string {
  if (config.databaseUrl) return config.databaseUrl
  throw new ConfigError(
    'DATABASE_URL',
    `is not set, and no embedded database is running in ${config.dataDir}: set it, or use npm start`,
  )
}

function settings({ name, env }: ProcessOptions): Pick<ProcessContext, 'config' | 'sockets'> {
  try {
    return {
      config: readConfig(env),
      sockets: inheritedSockets(env, { pid: process.pid, supervised: process.send !== undefined }),
    }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    createSpeech(name, { env, prefix: `postrider ${name}` }).complain(error.message)
    process.exit(EXIT_CONFIG)
  }
}

const STARTING = 'the process is starting'

/** Serves the health checks and the metrics of a process, where it has ports for them. */
async function serveState(
  { healthHost, healthPort, metricsHost, metricsPort }: Config,
  { process, sockets, ...state }: HealthState & { readonly process: string; readonly sockets: InheritedSockets },
): Promise<void> {
  if (healthPort !== undefined) {
    await servePlainHttp({
      target: { host: healthHost, port: healthPort },
      answer: (path) => healthAnswer(path, state),
    })
  }
  if (metricsPort !== undefined)
    await serveMetrics({ process, target: sockets.target('metrics', metricsHost, metricsPort), ...state })
}

interface Preparation {
  readonly sql: Sql
  readonly config: Config
  readonly log: Log
  /** Called with what it waits for. */
  readonly onWait: (reason: string) => void
}

/** Applies the missing migrations; with MIGRATE=manual, waits until an operator has applied them. Throws {@link SchemaTooOld}. */
async function prepareSchema({ sql, config, log, onWait }: Preparation): Promise<void> {
  const waiting = (code: string | undefined) => {
    onWait('waiting for the database')
    log.warn({ code }, 'waiting for the database')
  }
  await retryWhileAway(waiting, () => requireFitDatabase(sql, { toMigrate: config.migrate === 'auto' }))
  if (config.migrate === 'auto') return void (await retryWhileAway(waiting, () => migrate(sql)))
  for (let waits = 0; ; waits++) {
    const schema = await retryWhileAway(waiting, () => readSchemaState(sql))
    const { pending, tooOld } = schema
    if (tooOld !== undefined) throw new SchemaTooOld(tooOld)
    if (pending.length === 0) return
    onWait(migrationsMissing(schema))
    if (waits % 30 === 0) log.warn({ pending }, 'waiting for migrations; run "npm run postrider -- migrate"')
    await new Promise((resolve) => setTimeout(resolve, 1000))
  }
}

/** Waits for a database that is still starting, with up to 60 retries every 500 ms; any other error is thrown. */
async function retryWhileAway<T>(onWait: (code: string | undefined) => void, fn: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await fn()
    } catch (error) {
      if (!isDatabaseAway(error) || attempt > 60) throw error
      if (attempt === 1) onWait(databaseErrorCode(error))
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  }
}

/**
 * Sends heartbeats to the supervisor, if there is one, as long as the event loop runs. Starts before anything is
 * awaited: a process that waits for its database is alive.
 */
function sendHeartbeats(): void {
  const send = () => process.connected && process.send?.('alive', undefined, undefined, () => {})
  if (process.send) setInterval(send, ALIVE_EVERY_MS).unref()
  send()
}

interface Failing {
  readonly config: Config
  readonly complain: (sentence: string) => void
}

function fail(log: Log, { config, complain }: Failing, error: unknown): never {
  const end = (problem: string, code: number): never => {
    complain(problem)
    process.exit(code)
  }
  const problem = error instanceof ConfigError ? error.message : listenProblem(config, error)
  if (problem !== undefined) return end(problem, EXIT_CONFIG)
  if (error instanceof SchemaTooOld) return end(error.message, EXIT_CONFIG)
  if (error instanceof DatabaseUnfit) return end(error.message, error.isPassing ? 1 : EXIT_CONFIG)
  const refusal = connectProblem(error)
  if (refusal === undefined) return die(log, error)
  // A restart may help: who changes a password changes it at two places.
  return end(`the database refuses the connection: ${unmetText(refusal)}`, 1)
}

/**
 * Logs an internal error and exits. The supervisor starts a new process, and other processes take over the work in
 * progress.
 */
function die(log: Log, error: unknown): never {
  log.fatal({ err: error }, 'internal error')
  process.exit(1)
}
