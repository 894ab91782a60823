import { fileURLToPath } from 'node:url'
import { type Config, createCore, createLog, EXIT_CONFIG, migrate, openDatabase } from '@postrider/core'
import { startEmbeddedPostgres } from './embedded-postgres.ts'
import { firstSteps, makeDemoAccount, reachable } from './first-run.ts'
import { type Program, supervise } from './supervisor.ts'

/** Starts everything and stays until told to stop. Answers the exit status. */
export async function up(config: Config, env: NodeJS.ProcessEnv): Promise<number> {
  const say = (line: string) => void process.stdout.write(`${line}\n`)
  const stopAsked = untilStopped()
  const embedded = env.DATABASE_URL ? undefined : await startEmbeddedPostgres({ dataDir: config.dataDir, report: say })
  try {
    const url = embedded?.url ?? (env.DATABASE_URL as string)
    const key = await prepare(config, url)
    const supervisor = supervise({
      programs: programs(config),
      // A newcomer's terminal is for what matters; LOG_LEVEL=info shows every step.
      env: { LOG_LEVEL: 'warn', ...env, DATABASE_URL: url, DATA_DIR: config.dataDir },
      report: say,
    })
    try {
      const started = await Promise.race([supervisor.started.then(() => true), stopAsked.then(() => false)])
      if (!started) return 0
      if (key) say(firstSteps(key, config))
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

/** Schema and, on the first run, the demo account. Answers its key then. */
async function prepare(config: Config, url: string): Promise<string | undefined> {
  const sql = openDatabase({ url, name: 'up', connections: 2 })
  await migrate(sql)
  const core = createCore({ sql, config, log: createLog('up', 'silent') })
  try {
    return await makeDemoAccount(core)
  } finally {
    await core.close()
  }
}

function programs(config: Config): Program[] {
  const program = (name: string, specifier: string): Program => ({
    name,
    file: fileURLToPath(import.meta.resolve(specifier)),
  })
  return [
    ...(config.delivery.kind === 'sandbox' ? [program('sandbox', '@postrider/sandbox/server')] : []),
    program('api', '@postrider/api/server'),
    program('relay', '@postrider/relay/server'),
    program('delivery', '@postrider/delivery'),
  ]
}

function summary(config: Config): string {
  const { apiHost, apiPort, relayHost, relayPort, relayTlsPort, delivery, sandboxHost, sandboxHttpPort } = config
  const where = {
    sandbox: `to the sandbox inbox, http://${sandboxHost}:${sandboxHttpPort}/ (nothing leaves this machine)`,
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
