import { pause } from '../../concurrency/timer-delay.ts'
import { openSession, type Sql } from '../database.ts'
import { withDeadline } from '../deadlines.ts'
import { LAST_WITHOUT_VERSION, PROGRAM_VERSION } from '../session-name.ts'
import { type Migration, migrations } from './migration-files.ts'

/** Advisory lock of the one process that applies them. */
const LATER_LOCK = 7762
/** Milliseconds between two steps of a backfill; longer after a slow step, which is so at most half of the load. */
const BREATH_MS = 10

/** Processes of an older version that a migration waits for. */
export interface OlderProgram {
  readonly program: string
  /** The host's address as the server sees it; null for a socket on the server's own host. */
  readonly address: string | null
  readonly version: number
}

export interface LaterOptions {
  /** Called after each step of a backfill, with the rows so far and how many the table has, as the database estimates. */
  readonly report?: (name: string, rows: number, estimate: number) => void
  readonly signal?: AbortSignal
  /** The folder of the migrations, for tests. */
  readonly folder?: string
}

export interface LaterResult {
  readonly applied: readonly string[]
  /** The migration that must wait, and for whom; undefined if none does. */
  readonly waiting: { readonly name: string; readonly for: readonly OlderProgram[] } | undefined
  /** Whether another process is applying them. */
  readonly busy: boolean
}

const IDLE: LaterResult = { applied: [], waiting: undefined, busy: false }

/** Returns the migrations of this version that are applied while processes work, and are not yet. */
export async function laterMigrations(sql: Sql, folder?: string): Promise<readonly Migration[]> {
  const later = migrations(folder).filter(({ is }) => is.kind !== 'expand')
  if (later.length === 0) return []
  const names = later.map(({ name }) => name)
  const rows = await sql<{ name: string }[]>`select name from schema_migrations where name = any(${names})`
  const done = new Set(rows.map(({ name }) => name))
  return later.filter(({ name }) => !done.has(name))
}

/**
 * Applies the migrations of {@link laterMigrations}, in order, by one process at a time, while all work. Each step of a backfill is a
 * transaction of its own, and continues after the last one, also of a process that was killed. Ends at a `contract` for which processes of
 * an older version still run.
 */
export async function applyLaterMigrations(sql: Sql, options: LaterOptions = {}): Promise<LaterResult> {
  const pending = await laterMigrations(sql, options.folder)
  if (pending.length === 0) return IDLE
  const session = withDeadline(openSession(sql), 'long')
  const applied: string[] = []
  try {
    const [lock] = await session<{ taken: boolean }[]>`select pg_try_advisory_lock(${LATER_LOCK}) as taken`
    if (!lock?.taken) return { ...IDLE, busy: true }
    for (const migration of await laterMigrations(session, options.folder)) {
      const { is } = migration
      if (is.kind === 'contract') {
        const older = await olderPrograms(session, is.since)
        if (older.length > 0) return { applied, waiting: { name: migration.name, for: older }, busy: false }
        await contract(session, migration, is.since)
      }
      if (is.kind === 'index') await buildIndex(session, migration, is.index)
      if (is.kind === 'backfill' && !(await backfill(session, migration, is.table, options))) break
      applied.push(migration.name)
    }
    return { applied, waiting: undefined, busy: false }
  } finally {
    await session.end({ timeout: 5 })
  }
}

/** Returns the programs of this database whose version is below `since`. Commands count, too: they use what is removed. */
export async function olderPrograms(sql: Sql, since: number): Promise<OlderProgram[]> {
  return sql<OlderProgram[]>`
    with programs as (
      select application_name as name, client_addr as address,
             coalesce(substring(application_name from ${PROGRAM_VERSION})::int, ${LAST_WITHOUT_VERSION}) as version
        from pg_stat_activity
       where datname = current_database() and application_name like 'postrider %' and pid <> pg_backend_pid())
    select distinct split_part(name, ' ', 2) as program, host(address) as address, version
      from programs where version < ${since} order by 1, 2 limit 100`
}

/** A lock that cannot be had for five seconds lets the statements behind it pass; the next round tries again. */
async function contract(session: Sql, { name, text, digest }: Migration, since: number): Promise<void> {
  await transaction(session, name, async () => {
    await session`set local lock_timeout = '5s'`
    await session.unsafe(text)
    // A version that is older and starts from now on is not ready.
    await session`update schema_minimum set version = greatest(version, ${since})`
    await session`insert into schema_migrations (name, digest) values (${name}, ${digest})`
  })
}

/** An index whose build was interrupted is left invalid: it is removed, and built again. */
async function buildIndex(session: Sql, { name, text, digest }: Migration, index: string): Promise<void> {
  await session`set statement_timeout = 0`
  const [found] = await session<{ valid: boolean }[]>`
    select indisvalid as valid from pg_index where indexrelid = to_regclass(${index})`
  if (found && !found.valid) await session.unsafe(`drop index concurrently ${index}`)
  if (!found?.valid) await session.unsafe(text).catch((error: unknown) => Promise.reject(named(name, error)))
  await session`insert into schema_migrations (name, digest) values (${name}, ${digest})`
}

/**
 * Runs the file's statement until it returns no bookmark. It takes the bookmark of the step before, null at first, and returns one row:
 * `bookmark` (text; null after the last step) and `rows`, how many rows this step has read. Returns whether it came to its end.
 */
async function backfill(
  session: Sql,
  { name, text, digest }: Migration,
  table: string,
  { report, signal }: LaterOptions,
): Promise<boolean> {
  const [size] = await session<{ rows: number }[]>`
    select greatest(sum(reltuples), 0)::float8 as rows from pg_class
     where oid = to_regclass(${table}) or oid in (select inhrelid from pg_inherits where inhparent = to_regclass(${table}))`
  for (;;) {
    const began = performance.now()
    const step = await transaction(session, name, async () => {
      const [before] = await session<{ bookmark: string | null; rows: number }[]>`
        select bookmark, rows::float8 as rows from schema_backfills where name = ${name}`
      const [row] = await session.unsafe<{ bookmark: string | null; rows: number }[]>(text, [before?.bookmark ?? null])
      const rows = (before?.rows ?? 0) + Number(row?.rows ?? 0)
      const bookmark = row?.bookmark ?? null
      await session`
        insert into schema_backfills (name, bookmark, rows) values (${name}, ${bookmark}, ${rows})
        on conflict (name) do update set bookmark = excluded.bookmark, rows = excluded.rows, updated_at = now()`
      if (bookmark === null) await session`insert into schema_migrations (name, digest) values (${name}, ${digest})`
      return { bookmark, rows }
    })
    report?.(name, step.rows, size?.rows ?? 0)
    if (step.bookmark === null) return true
    if (signal?.aborted) return false
    await pause(Math.max(BREATH_MS, performance.now() - began))
  }
}

/** On a connection of its own, so `begin` need not reserve one. */
async function transaction<T>(session: Sql, name: string, act: () => Promise<T>): Promise<T> {
  await session`begin`
  try {
    const result = await act()
    await session`commit`
    return result
  } catch (error) {
    await session`rollback`
    throw named(name, error)
  }
}

function named(name: string, error: unknown): Error {
  return new Error(`sql/${name}: ${(error as Error).message}`, { cause: error })
}
