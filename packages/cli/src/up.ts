import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Config, certificateFile, EXIT_CONFIG } from '@postrider/core'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres/index.ts'
import { firstSteps, makeDemoAccount, reachable, sandboxUrl } from './first-run.ts'
import { ensureDataDir, onDatabase } from './installation.ts'
import { type Program, supervise } from './supervisor.ts'

/** Starts everything and stays until told to stop. Answers the exit status. */
export async function up(config: Config, env: NodeJS.ProcessEnv): Promise<number> {
  const say = (line: string) => void process.stdout.write(`${line}\n`)
  const stopAsked = untilStopped()
  // The sandbox and the certificate live there, whatever the database is.
  ensureDataDir(config)
  const embedded = env.DATABASE_URL ? undefined : await startDatabase(config, say, stopAsked)
  if (embedded === 'stopped') return 0
  try {
    const url = embedded?.url ?? (env.DATABASE_URL as string)
    await onDatabase(config, url, async () => {})
    const supervisor = supervise({
      programs: programs(config),
      // A newcomer's terminal is for what matters; LOG_LEVEL=info shows every step.
      env: { LOG_LEVEL: 'warn', ...trial(config, env), ...env, DATABASE_URL: url, DATA_DIR: config.dataDir },
      report: say,
    })
    try {
      const started = await Promise.race([supervisor.started.then(() => true), stopAsked.then(() => false)])
      if (!started) return 0
      // Only now: a key made before a port turned out to be taken would never have been shown.
      const key = await onDatabase(config, url, makeDemoAccount)
      const certificate = certificateFile(config)
      if (key) say(firstSteps(key, config, existsSync(certificate) ? certificate : undefined))
      say(summary(config))
      const broken = await Promise.race([stopAsked.then(() => undefined), supervisor.broken])
      return broken === undefined ? 0 : EXIT_CONFIG
    } catch (error) {
      process.stderr.write(`postrider: ${(error as Error).message}\n`)
      return EXIT_CONFIG
    } finally {
      await supervisor.stop()
    }
  } finally {
    await embedded?.stop()
    say('stopped')
  }
}

/** Whoever stops us need not wait until a dying database has gone, or another has read its WAL. */
async function startDatabase(
  { dataDir }: Config,
  report: (line: string) => void,
  stopAsked: Promise<void>,
): Promise<EmbeddedPostgres | 'stopped'> {
  const stop = new AbortController()
  void stopAsked.then(() => stop.abort())
  try {
    return await startEmbeddedPostgres({ dataDir, role: 'up', report, signal: stop.signal })
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error
    return 'stopped'
  }
}

/**
 * Whoever tries the service on his own machine has his webhooks there too. Only where no mail leaves it, and never by a
 * setting that a process started alone could miss: those refuse.
 */
function trial({ delivery }: Config, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return delivery.kind === 'sandbox' && env.NODE_ENV !== 'production' ? { WEBHOOK_PRIVATE_NETWORKS: 'allow' } : {}
}

function programs(config: Config): Program[] {
  const program = (name: string, specifier: string): Program => ({
    name,
    file: fileURLToPath(import.meta.resolve(specifier)),
  })
  return [
    ...(config.delivery.kind === 'sandbox' ? [{ ...program('sandbox', '@postrider/sandbox/server'), last: true }] : []),
    program('api', '@postrider/api/server'),
    program('relay', '@postrider/relay/server'),
    program('delivery', '@postrider/delivery'),
  ]
}

function summary(config: Config): string {
  const { apiHost, apiPort, relayHost, relayPort, relayTlsPort, delivery } = config
  const where = {
    sandbox: `to the sandbox inbox, ${sandboxUrl(config)}/ (nothing leaves this machine)`,
    mx: "to the recipients' servers",
    relay: delivery.kind === 'relay' ? `through ${delivery.host}:${delivery.port}` : '',
  }[delivery.kind]
  return [
    `API       http://${reachable(apiHost)}:${apiPort}/v2`,
    `SMTP      ${reachable(relayHost)}:${relayPort} (STARTTLS), ${relayTlsPort} (TLS)`,
    `Delivery  ${where}`,
    'Running. Ctrl-C stops everything.',
  ].join('\n')
}

/** Resolves at SIGINT or SIGTERM; a second one ends the process at once. */
function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false
    const stop = () => {
      if (asked) process.exit(130)
      asked = true
      resolve()
    }
    process.on('SIGINT', stop)
    process.on('SIGTERM', stop)
  })
}
