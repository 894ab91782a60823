import { existsSync } from 'node:fs'
import { isatty } from 'node:tty'
import {
  buildText,
  type Config,
  ConfigError,
  certificateFile,
  collectWhenIdle,
  createSpeech,
  EXIT_CONFIG,
  inheritedSockets,
  listenProblem,
  logWarnings,
  requireDistinctPorts,
} from '@postrider/core'
import { scheduleBackups } from './backup/schedule.ts'
import { ensureDataDir, openToOthers } from './embedded-postgres/data-folder.ts'
import {
  firstSteps,
  isWithoutAccount,
  makeDemoAccount,
  makeFirstLink,
  NO_ACCOUNT,
  NO_OWNER,
  reachable,
  sandboxUrl,
  trialSettings,
} from './first-run.ts'
import { heldSockets } from './held-sockets.ts'
import { onDatabase } from './installation.ts'
import { programs } from './programs.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './start-postgres.ts'
import { endOrphans, noteChildren } from './supervision/orphans.ts'
import { type Supervisor, supervise } from './supervisor.ts'

/** Starts all processes and runs until stopped. Returns the exit status. */
export async function up(config: Config, env: NodeJS.ProcessEnv): Promise<number> {
  const speech = createSpeech('up', { env })
  const { say: print, complain } = speech
  // The units of systemd set it: what is said then goes to the journal.
  const isService = speech.isJson || env.NODE_ENV === 'production'
  logWarnings(env, complain)
  print(`Postrider ${buildText()}`)
  const stopAsked = untilStopped()
  const hangUp = rollOnHangUp()
  // The sandbox's and the certificate's files are in DATA_DIR with an external database, too.
  ensureDataDir(config)
  const open = openToOthers(config)
  if (open !== undefined) print(`${open.problem}: run ${open.fix}`)
  const held = heldSockets(inheritedSockets(env, { pid: process.pid, supervised: false }))
  const step = stepsOn(print)
  const embedded = env.DATABASE_URL ? undefined : await startDatabase(config, print, stopAsked)
  if (embedded === 'stopped') return 0
  if (embedded) step('database running')
  try {
    const url = embedded?.url ?? (env.DATABASE_URL as string)
    await onDatabase(config, url, async () => {}, print)
    step('schema up to date')
    requireConsistent(config, env)
    await endOrphans({ dataDir: config.dataDir, areWithoutDatabase: embedded !== undefined, report: print })
    const supervisor = supervise({
      programs: await programs(config, held),
      // Keeps the terminal readable; LOG_LEVEL=info shows every step, and LOG_MESSAGES has its lines there.
      env: {
        LOG_LEVEL: config.logMessages ? 'info' : 'warn',
        ...(isatty(1) ? { LOG_FORMAT: 'pretty' } : {}),
        ...trialSettings(config, env),
        ...env,
        DATABASE_URL: url,
        DATA_DIR: config.dataDir,
        // One port for all of them would stop all but one.
        HEALTH_PORT: '',
      },
      report: print,
      drainDelayMs: config.drainDelay * 1000,
      onChildren: (pids) => noteChildren(config.dataDir, pids),
    })
    hangUp.supervisor = supervisor
    let backups: { stop(): void } | undefined
    try {
      const started = await Promise.race([supervisor.started.then(() => true), stopAsked.then(() => false)])
      if (!started) return 0
      step('processes running')
      collectWhenIdle()
      // Created last: if a port were taken, a key created earlier would never be shown.
      const { key, link, isEmpty, needsOwner } = await onDatabase(config, url, async (core) => ({
        // A key or link in the log of a server would be one for everybody who reads that, and a link would replace the one that init printed.
        key: speech.isJson ? undefined : await makeDemoAccount(core, config),
        link: isService || config.delivery.kind === 'mx' ? undefined : (await makeFirstLink(core, config))?.url,
        needsOwner: await core.people.firstLink.isNeeded(),
        isEmpty: await isWithoutAccount(core),
      }))
      const { backups: backupConfig } = config
      const ownEnv = { ...env, DATA_DIR: config.dataDir }
      if (embedded && backupConfig) backups = scheduleBackups({ config: backupConfig, env: ownEnv, report: print })
      const certificate = certificateFile(config)
      print(`${speech.isJson ? '' : '\n'}${dashboardLine(config, link)}`)
      if (key) print(firstSteps(key, config, existsSync(certificate) ? certificate : undefined))
      for (const line of speech.isJson ? summary(config) : [summary(config).join('\n')]) print(line)
      if (isEmpty) print(NO_ACCOUNT)
      if (needsOwner && link === undefined) print(NO_OWNER)
      const broken = await Promise.race([stopAsked.then(() => undefined), supervisor.broken])
      return broken === undefined ? 0 : EXIT_CONFIG
    } catch (error) {
      complain((error as Error).message)
      return EXIT_CONFIG
    } finally {
      backups?.stop()
      await supervisor.stop()
    }
  } catch (error) {
    const problems = (error instanceof AggregateError ? error.errors : [error]).map((one) => listenProblem(config, one))
    if (problems.includes(undefined)) throw error
    for (const problem of new Set(problems)) complain(problem as string)
    return EXIT_CONFIG
  } finally {
    held.close()
    await embedded?.stop()
    print('stopped')
  }
}

/** Throws {@link ConfigError} for settings of which each is valid alone. */
function requireConsistent(config: Config, env: NodeJS.ProcessEnv): void {
  requireDistinctPorts(config)
  if (env.DATABASE_URL && config.backups)
    throw new ConfigError(
      'BACKUP_DIR',
      'has no effect with DATABASE_URL: back up that Postgres with its own tools, such as pgBackRest (docs/backup.md), and unset it',
    )
}

/** A stop request ends the wait for a database that is shutting down or replaying its WAL. */
async function startDatabase(
  { dataDir, backups }: Config,
  report: (line: string) => void,
  stopAsked: Promise<void>,
): Promise<EmbeddedPostgres | 'stopped'> {
  const stop = new AbortController()
  void stopAsked.then(() => stop.abort())
  try {
    return await startEmbeddedPostgres({ dataDir, role: 'up', backups: backups?.address, report, signal: stop.signal })
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error
    return 'stopped'
  }
}

/** Says what was done, with the seconds that it took. */
function stepsOn(print: (line: string) => void): (done: string) => void {
  let began = performance.now()
  return (done) => {
    print(`${done} (${((performance.now() - began) / 1000).toFixed(1)} s)`)
    began = performance.now()
  }
}

/** `link`: with which the first user is made. */
function dashboardLine({ publicUrl }: Config, link: string | undefined): string {
  return `Dashboard ${link ?? `${publicUrl}/app`}${link ? ' (works once, for 24 hours)' : ''}`
}

function summary(config: Config): string[] {
  const { apiHost, apiPort, relayHost, relayPort, relayTlsPort, returnsHost, returnsPort, delivery } = config
  const where = {
    sandbox: `to the sandbox inbox, ${sandboxUrl(config)}/ (nothing leaves this machine)`,
    mx: "to the recipients' servers",
    relay: delivery.kind === 'relay' ? `through ${delivery.host}:${delivery.port}` : '',
  }[delivery.kind]
  return [
    `API       http://${reachable(apiHost)}:${apiPort}/v2`,
    `SMTP      ${reachable(relayHost)}:${relayPort} (STARTTLS), ${relayTlsPort} (TLS)`,
    `Delivery  ${where}`,
    `Returns   ${listening(returnsHost, returnsPort)} (bounce reports and complaints)`,
    `Running. Ctrl-C stops everything; kill -HUP ${process.pid} replaces its processes without a failed request.`,
  ]
}

/** Where other servers connect: one that listens on every address is not only reached from this machine. */
function listening(host: string, port: number): string {
  return host === '0.0.0.0' || host === '::' ? `port ${port} of every address` : `${reachable(host)}:${port}`
}

/** Resolves at SIGINT or SIGTERM, or when the program that started this one with a channel has ended; a second signal exits immediately. */
function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    let stopping = false
    const stop = () => {
      if (stopping) process.exit(130)
      stopping = true
      resolve()
    }
    process.on('SIGINT', stop)
    process.on('SIGTERM', stop)
    process.on('disconnect', () => stopping || stop())
    // The channel alone must not keep a start that failed from ending.
    process.channel?.unref()
  })
}

/**
 * Replaces all processes at SIGHUP. Before the supervisor has been set, nothing is to be replaced: a service manager that asks for it early must not
 * end the start. The signal is also sent when the terminal is closed: then it stops everything, as usual.
 */
function rollOnHangUp(): { supervisor?: Supervisor } {
  const terminals = [0, 1, 2].filter((fd) => isatty(fd))
  const rolled: { supervisor?: Supervisor } = {}
  process.on('SIGHUP', () => {
    if (terminals.some((fd) => !isatty(fd))) process.kill(process.pid, 'SIGTERM')
    else void rolled.supervisor?.roll()
  })
  return rolled
}
