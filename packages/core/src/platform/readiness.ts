import { databaseErrorCode, onlyRow, type Sql } from './database/database.ts'
import type { DatabaseClock } from './database/database-clock.ts'
import { quietFor, within } from './database/deadlines.ts'
import { diskProbe } from './database/disk-probe.ts'
import { pendingMigrations } from './database/migrate.ts'
import type { Log } from './log.ts'
import { agreeOnSecret, type Secrets } from './secrets.ts'

/** Promise P1 rests on these; with one of them off an acknowledged message can be lost. */
const DURABILITY = ['fsync', 'full_page_writes', 'synchronous_commit']
/** Milliseconds by which a host's clock may differ from the database's without a word. */
const CLOCK_TOLERANCE = 60_000
/** Milliseconds after which a database that says nothing is taken for away; longer at first, when nothing is open yet. */
const PATIENCE = { first: 5000, later: 1750 } as const
/** They are waited for in steps of so many: a process that was busy for long has not waited for long. */
const STEP = 250

export interface Readiness {
  readonly ready: boolean
  /** Why not, in words for the operator. */
  readonly reasons: readonly string[]
}

export interface ReadinessWatch {
  current(): Readiness
  /** Asks the database again now. */
  check(): Promise<Readiness>
  /** The database said that its disk is full. */
  noteFull(): void
  /** Milliseconds since the pool last answered: how long the work of this process stands still, whatever other connections it has. */
  sinceAnswer(): number
  close(): void
}

export interface ReadinessOptions {
  /** The pool that serves mail: a connection of its own would know only of itself. */
  readonly sql: Sql
  readonly log: Log
  readonly secrets: Secrets
  readonly clock: DatabaseClock
  readonly allowUnsafeDatabase: boolean
  /** Milliseconds between two checks. */
  readonly every?: number
}

/**
 * Watches whether this process may take mail: the database answers, is durable, has room, and has this version's schema.
 * Not ready until the first check has passed; not ready within 3 s after the database stopped to answer.
 */
export function watchReadiness(options: ReadinessOptions): ReadinessWatch {
  const { log, secrets, clock, allowUnsafeDatabase, every = 1000 } = options
  const sql = within(options.sql, 'mail')
  const disk = diskProbe(sql, clock.monotonic)
  let state: Readiness = { ready: false, reasons: ['the database was not asked yet'] }
  let checking: Promise<Readiness> | undefined
  let answeredAt = clock.monotonic()
  let everReady = false
  let clockIsOff = false
  const timer = setInterval(() => void (checking ?? check()), every)
  timer.unref()

  function check(): Promise<Readiness> {
    const mine = (checking ?? Promise.resolve()).then(look).finally(() => {
      if (checking === mine) checking = undefined
    })
    checking = mine
    return mine
  }

  async function look(): Promise<Readiness> {
    const reasons = await soon(problems())
      // One connection was dead, and is gone now, while others speak.
      .catch((error: unknown) =>
        databaseErrorCode(error) === 'CONNECTION_SILENT' ? soon(problems()) : Promise.reject(error),
      )
      .catch(() => ['the database does not answer'])
    everReady ||= reasons.length === 0
    const changed = reasons.join() !== state.reasons.join()
    state = { ready: reasons.length === 0, reasons }
    if (changed && !state.ready) log.error({ reasons }, 'not ready')
    if (changed && state.ready) log.info('ready')
    return state
  }

  async function problems(): Promise<string[]> {
    const asked = clock.monotonic()
    const { now, off } = onlyRow(
      await sql<{ now: number; off: string[] }[]>`
        select (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
               array(select name from unnest(${DURABILITY}::text[]) name where current_setting(name) = 'off') as off`,
    )
    answeredAt = clock.monotonic()
    compareClocks(clock.set({ asked, answered: answeredAt, database: now }))
    return [
      ...(allowUnsafeDatabase ? [] : off.map(unsafe)),
      ...(await schemaProblems(sql, secrets)),
      ...(disk.hasRoom() ? [] : ['the disk of the database is full, so mail can not be stored: make room on it']),
    ]
  }

  /**
   * Throws when an answer does not come. As long as others of the pool's connections speak it is waited for: the pool is busy,
   * or one connection of it is dead, and mail goes through.
   */
  async function soon<T>(answer: Promise<T>): Promise<T> {
    let over = false
    const settled = answer.finally(() => {
      over = true
    })
    settled.catch(() => {})
    const patience = everReady ? PATIENCE.later : PATIENCE.first
    for (let waited = 0; !over && (waited < patience || quietFor(options.sql) < patience - STEP); waited += STEP) {
      let timer: NodeJS.Timeout | undefined
      const step = new Promise((resolve) => {
        timer = setTimeout(resolve, STEP)
      })
      await Promise.race([settled, step]).finally(() => clearTimeout(timer))
    }
    if (over) return settled
    throw new Error('the database says nothing')
  }

  /** A wrong clock of a host stops no mail, as the database's dates it; but certificates and signatures go by the host's. */
  function compareClocks(ahead: number): void {
    const seconds = Math.round(ahead / 1000)
    const off = Math.abs(ahead) > CLOCK_TOLERANCE
    if (off && !clockIsOff)
      log.warn({ seconds }, "this host's clock differs from the database's, which dates the mail: set it right")
    clockIsOff = off
  }

  return {
    current: () => state,
    check,
    noteFull() {
      disk.suspect()
      void (checking ?? check())
    },
    sinceAnswer: () => clock.monotonic() - answeredAt,
    close: () => clearInterval(timer),
  }
}

function unsafe(name: string): string {
  return `the database has ${name} = off, so accepted mail could be lost: switch it on (ALLOW_UNSAFE_DATABASE=1 is for tests only)`
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
