import { openSession, type Sql } from '../database.ts'
import { withDeadline } from '../deadlines.ts'
import { BASELINE, countBefore, LAST_BEFORE, migrations, schemaVersion, versionOf } from './migration-files.ts'

/**
 * uuidv7() is a function of Postgres since 18. Before, this is it: RFC 9562 5.7, with the server's milliseconds and 74 random bits. Bits 52
 * and 53 make version 7 of the 4 of gen_random_uuid().
 */
const OWN_UUIDV7 = `
  do $do$ begin
    if current_setting('server_version_num')::int < 180000 and to_regprocedure('uuidv7()') is null then
      create function uuidv7() returns uuid language sql volatile parallel safe as $$
        select encode(set_bit(set_bit(
          overlay(uuid_send(gen_random_uuid())
                  placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
          52, 1), 53, 1), 'hex')::uuid
      $$;
    end if;
  end $do$`

/** Thrown for a database that has only some of the migrations before the baseline. */
export class SchemaTooOld extends Error {
  readonly problem: string
  readonly fix =
    `check out commit ${LAST_BEFORE}, run "npm run setup" and "npm run postrider -- migrate" with it, and then use this version again`

  constructor(count: number) {
    super()
    this.problem = `the database has ${count} of the ${BASELINE} migrations from before the baseline, and this version upgrades only from all of them`
    this.message = `${this.problem}: ${this.fix}`
  }
}

/**
 * Applies the migrations that this version needs to work (`expand`). Migrations only go forward; each file runs in its own transaction, and
 * one process at a time runs them while others wait. Returns the names of the files it applied. The others are applied while processes
 * work (later-migrations.ts).
 *
 * Throws {@link SchemaTooOld}, and an Error if an applied file was edited afterwards: an applied migration must not change, and a correction
 * goes into a new file.
 */
export async function migrate(sql: Sql, folder?: string): Promise<string[]> {
  const applied: string[] = []
  const session = withDeadline(openSession(sql), 'long')
  try {
    await session`set statement_timeout = 0`
    await session`select pg_advisory_lock(7739)`
    await session`create table if not exists schema_migrations (
      name text primary key, digest text not null, applied_at timestamptz not null default now())`
    const rows = await session<{ name: string; digest: string }[]>`select name, digest from schema_migrations`
    const done = new Map(rows.map(({ name, digest }) => [name, digest]))
    const former = countBefore([...done.keys()])
    if (former !== undefined && former < BASELINE) throw new SchemaTooOld(former)
    await session.unsafe(OWN_UUIDV7)
    for (const { name, text, digest, is } of migrations(folder)) {
      if (former !== undefined && versionOf(name) <= BASELINE) continue
      const before = done.get(name)
      if (before === digest) continue
      if (before !== undefined)
        throw new Error(`sql/${name} was changed after it was applied; put the change in a new file`)
      if (is.kind !== 'expand') continue
      // Waiting longer than 5 s for a lock would stall every accept queued after us; it is better to fail and run
      // again.
      const record = `insert into schema_migrations (name, digest) values ('${name}', '${digest}')`
      await session
        .unsafe(`begin; set local lock_timeout = '5s'; ${text}\n; ${record}; commit`)
        .catch(async (error: unknown) => {
          await session.unsafe('rollback')
          throw new Error(`sql/${name}: ${(error as Error).message}`, { cause: error })
        })
      applied.push(name)
    }
  } finally {
    await session.end({ timeout: 5 })
  }
  return applied
}

/** The schema of a database, compared with this version's. */
export interface SchemaState {
  /** This version's migrations that are not applied and without which it does not work, in order. */
  readonly pending: readonly string[]
  /** Those that are applied while processes work, in order. */
  readonly later: readonly string[]
  /** Whether no migration was ever applied. */
  readonly isEmpty: boolean
  /** Applied migrations that this version does not know: a newer version has run on the database. */
  readonly unknown: readonly string[]
  /** The number of migrations from before the baseline, if the database lacks some: this version does not upgrade it. */
  readonly tooOld: number | undefined
}

/** Compares the names of the migrations; changes nothing. */
export async function readSchemaState(sql: Sql): Promise<SchemaState> {
  const [exists] = await sql<{ found: boolean }[]>`select to_regclass('schema_migrations') is not null as found`
  const rows = exists?.found ? await sql<{ name: string }[]>`select name from schema_migrations order by name` : []
  return schemaStateOf(rows.map(({ name }) => name))
}

/** Compares the names of the migrations that are applied with this version's. */
export function schemaStateOf(done: readonly string[]): SchemaState {
  const known = migrations()
  const former = countBefore(done)
  const [names, applied] = [new Set(known.map(({ name }) => name)), new Set(done)]
  const missing = known.filter(({ name }) => !applied.has(name) && (former !== BASELINE || versionOf(name) > BASELINE))
  return {
    pending: missing.filter(({ is }) => is.kind === 'expand').map(({ name }) => name),
    later: missing.filter(({ is }) => is.kind !== 'expand').map(({ name }) => name),
    unknown: done.filter((name) => !names.has(name) && (former === undefined || versionOf(name) > BASELINE)),
    isEmpty: done.length === 0,
    tooOld: former === BASELINE ? undefined : former,
  }
}

/**
 * Returns the number of this version's last migration and that which the schema demands, if this version is too old for it;
 * otherwise undefined. To be called when no migration is pending.
 */
export async function outdatedBy(sql: Sql): Promise<{ version: number; minimum: number } | undefined> {
  const version = schemaVersion()
  const [row] = await sql<{ minimum: number }[]>`select version as minimum from schema_minimum`
  return row && row.minimum > version ? { version, minimum: row.minimum } : undefined
}

/** Returns the names of this version's migrations that are not applied to the database. */
export async function pendingMigrations(sql: Sql): Promise<readonly string[]> {
  return (await readSchemaState(sql)).pending
}
