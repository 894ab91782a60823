import { join } from 'node:path'
import {
  type Config,
  connectProblem,
  findSecrets,
  findStandbyHosts,
  keyMark,
  openDatabase,
  type Sql,
  withDeadline,
} from '@postrider/core'
import { hasEmbeddedDatabase, PROMOTE, standbysText } from '../installation.ts'
import { startEmbeddedPostgres } from '../start-postgres.ts'
import { bad, type CheckResult, ok, warn } from './check-result.ts'

/** Connections: several checks wait for statements at the same time. */
const CONNECTIONS = 3
/** Milliseconds of a statement that reads nothing. */
const SLOW_MS = 200

/** The database of an installation as it is: no migration is applied, and no key or database created. */
export interface ExaminedDatabase {
  /** Undefined if the database does not respond. */
  readonly sql: Sql | undefined
  /** Whether it responds, and how fast. */
  readonly connection: CheckResult
  close(): Promise<void>
}

/** Opens the external database or the embedded one, which is started if it is not running. Never throws. */
export async function openExamined(config: Config, env: NodeJS.ProcessEnv): Promise<ExaminedDatabase> {
  if (!env.DATABASE_URL && !hasEmbeddedDatabase(config)) {
    const detail = `DATA_DIR has no database (${config.dataDir})`
    return closed(
      bad(detail, 'set DATA_DIR to the folder of the installation, or set DATABASE_URL; "npm start" creates a new one'),
    )
  }
  let stop = async (): Promise<void> => {}
  try {
    const embedded = env.DATABASE_URL
      ? undefined
      : await startEmbeddedPostgres({ dataDir: config.dataDir, backups: config.backups?.address })
    if (embedded) stop = embedded.stop
    const sql = openDatabase({
      url: embedded?.url ?? (env.DATABASE_URL as string),
      name: 'doctor',
      keyMark: markOf(config),
      connections: CONNECTIONS,
    })
    const close = async () => {
      await sql.end({ timeout: 1 })
      await stop()
    }
    try {
      return { sql: withDeadline(sql, 'work'), connection: await measure(withDeadline(sql, 'mail')), close }
    } catch (error) {
      const standbys = await findStandbyHosts(sql)
      await close()
      return closed(
        standbys.length > 0
          ? bad(`no primary responds; ${standbysText(standbys)}`, PROMOTE)
          : notConnected(error, config, env),
      )
    }
  } catch (error) {
    await stop()
    return closed(notConnected(error, config, env))
  }
}

function notConnected(error: unknown, { dataDir }: Config, env: NodeJS.ProcessEnv): CheckResult {
  const { message, code } = error as { message?: string; code?: string }
  const known = connectProblem(error)
  return bad(
    `could not connect: ${known?.problem ?? (message || code)}`,
    env.DATABASE_URL
      ? (known?.fix ?? 'start the database, and check its address, user and password in DATABASE_URL')
      : `look at the output of npm start, and at the end of ${join(dataDir, 'postgres.log')}`,
  )
}

/** Before the checks, which add to the times of each other. The first statement opens the connection. */
async function measure(sql: Sql): Promise<CheckResult> {
  await sql`select 1`
  const began = performance.now()
  await sql`select 1`
  const text = `a statement takes ${(performance.now() - began).toFixed(1)} ms`
  return performance.now() - began < SLOW_MS
    ? ok(text)
    : warn(
        `${text}, and each message needs several`,
        'have the database on the same network, and look at the load of its server',
      )
}

function closed(connection: CheckResult): ExaminedDatabase {
  return { sql: undefined, connection, close: async () => {} }
}

function markOf(config: Config): string | undefined {
  const secrets = findSecrets(config)
  return secrets && keyMark(secrets)
}
