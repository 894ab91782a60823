import type { Sql } from './database.ts'
import type { Log } from './log.ts'
import { pendingMigrations } from './migrate.ts'
import { agreeOnSecret, type Secrets } from './secrets.ts'

/** Promise P1 rests on these; with one of them off an acknowledged message can be lost. */
const DURABILITY = ['fsync', 'full_page_writes', 'synchronous_commit'] as const

export interface Readiness {
  readonly ready: boolean
  /** Why not, in words for the operator. */
  readonly reasons: readonly string[]
}

export interface ReadinessWatch {
  current(): Readiness
  /** Asks the database again now. */
  check(): Promise<Readiness>
  close(): void
}

export interface ReadinessOptions {
  readonly sql: Sql
  readonly log: Log
  readonly secrets: Secrets
  readonly allowUnsafeDatabase: boolean
  /** Milliseconds between two checks. Default 2,000. */
  readonly every?: number
}

/**
 * Watches whether this process may take mail: the database answers, is durable, and has this version's schema.
 * Not ready until the first check has passed.
 */
export function watchReadiness({
  sql,
  log,
  secrets,
  allowUnsafeDatabase,
  every = 2000,
}: ReadinessOptions): ReadinessWatch {
  let state: Readiness = { ready: false, reasons: ['the database was not asked yet'] }
  const timer = setInterval(() => void check(), every)
  timer.unref()

  async function check(): Promise<Readiness> {
    let reasons: string[]
    try {
      reasons = [...(await unsafeSettings(sql, allowUnsafeDatabase)), ...(await schemaProblems(sql, secrets))]
    } catch {
      reasons = ['the database does not answer']
    }
    const changed = reasons.join() !== state.reasons.join()
    state = { ready: reasons.length === 0, reasons }
    if (changed && !state.ready) log.error({ reasons }, 'not ready')
    if (changed && state.ready) log.info('ready')
    return state
  }

  return { current: () => state, check, close: () => clearInterval(timer) }
}

async function unsafeSettings(sql: Sql, allowed: boolean): Promise<string[]> {
  if (allowed) return []
  const rows = await sql<{ name: string }[]>`
    select name from pg_settings where name = any(${[...DURABILITY]}) and setting = 'off'`
  return rows.map(
    ({ name }) =>
      `the database has ${name} = off, so accepted mail could be lost: switch it on (ALLOW_UNSAFE_DATABASE=1 is for tests only)`,
  )
}

async function schemaProblems(sql: Sql, secrets: Secrets): Promise<string[]> {
  const pending = await pendingMigrations(sql)
  if (pending.length > 0) return [`the schema lacks ${pending.join(', ')}: run "npm run postrider -- migrate"`]
  return (await agreeOnSecret(sql, secrets))
    ? []
    : [
        'SECRET_KEY is not the one this database was set up with: set it to what the first host has (its DATA_DIR/secret-key, if its environment has none)',
      ]
}
