import { randomBytes } from 'node:crypto'
import { applyLaterMigrations, migrate, openDatabase, type Sql } from '@postrider/core'

/** As the migrations make it. */
const WHOLE_TEMPLATE = 'postrider_template'
/** The same with partitions for last week, this week and the next one only. */
const TEMPLATE = 'postrider_lean'
/** Filled when the first test asks for it, since few tests need it. */
const FILLED_TEMPLATE = 'postrider_filled'
/** The lock of the test that fills it. */
const FILL_LOCK = 7740
/** SQLSTATE. */
const DEADLOCK = '40P01'

/** Migrates the database that every test file's own is a copy of. */
export async function makeTemplateDatabase(url: string): Promise<void> {
  const admin = openDatabase({ url, name: 'test', connections: 1 })
  for (const name of [WHOLE_TEMPLATE, TEMPLATE, FILLED_TEMPLATE])
    await admin.unsafe(`drop database if exists ${name} with (force)`)
  await admin.unsafe(`create database ${WHOLE_TEMPLATE}`)
  await inDatabase(url, WHOLE_TEMPLATE, async (sql) => {
    await migrate(sql)
    await applyLaterMigrations(sql)
  })
  await admin.unsafe(`create database ${TEMPLATE} template ${WHOLE_TEMPLATE} strategy file_copy`)
  await inDatabase(url, TEMPLATE, dropLaterWeeks)
  await admin.end()
}

/**
 * A connection reads what it has to know of each partition of a table when it first uses the table, and plans its statements for each: with
 * eight weeks instead of three a new connection takes 53 ms of a processor instead of 15 for a join of five tables, and tests open thousands.
 */
async function dropLaterWeeks(sql: Sql): Promise<void> {
  const later = await sql<{ name: string }[]>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where c.relkind = 'r' and c.relname ~ '_[0-9]{4}w[0-9]{2}$'
       and right(c.relname, 7) > to_char((service_now() + interval '7 days') at time zone 'UTC', 'IYYY"w"IW')`
  await sql.unsafe(`drop table ${later.map(({ name }) => name).join(', ')}`)
}

async function inDatabase(server: string, name: string, act: (sql: Sql) => Promise<void>): Promise<void> {
  const sql = openDatabase({ url: databaseUrl(server, name), name: 'test', connections: 1 })
  await act(sql)
  await sql.end()
}

export interface TestDatabase {
  readonly url: string
  readonly sql: Sql
  drop(): Promise<void>
}

/**
 * A database of its own, migrated and empty; on the server of the test run, or on one the test owns. It has few partitions
 * (`core.cleanUp` makes those of the coming weeks).
 */
export function makeDatabase(server = ofTheRun()): Promise<TestDatabase> {
  return copyDatabase(server, TEMPLATE)
}

/** The same exactly as the migrations make it. */
export function makeWholeDatabase(server = ofTheRun()): Promise<TestDatabase> {
  return copyDatabase(server, WHOLE_TEMPLATE)
}

/** A database without a schema, for programs of another version. */
export function makeEmptyDatabase(): Promise<TestDatabase> {
  return copyDatabase(ofTheRun(), 'template1')
}

/** A database with what `fill` filled the first one of the test run with, and what it answered. */
export async function makeFilledDatabase<T>(
  fill: (url: string) => Promise<T>,
): Promise<{ database: TestDatabase; filled: T }> {
  const server = ofTheRun()
  const filled = await fillOnce(server, fill)
  return { database: await copyDatabase(server, FILLED_TEMPLATE), filled }
}

/** Keeps the answer of `fill` as the database's comment. */
async function fillOnce<T>(server: string, fill: (url: string) => Promise<T>): Promise<T> {
  const admin = openDatabase({ url: server, name: 'test', connections: 1 })
  try {
    await admin`set statement_timeout = 0`
    await admin`select pg_advisory_lock(${FILL_LOCK})`
    const [found] = await admin<{ comment: string }[]>`
      select shobj_description(oid, 'pg_database') as comment from pg_database where datname = ${FILLED_TEMPLATE}`
    if (found) return JSON.parse(found.comment) as T
    const name = await copyTemplate(admin, TEMPLATE)
    const filled = await fill(databaseUrl(server, name))
    await admin.unsafe(`comment on database ${name} is '${JSON.stringify(filled).replaceAll("'", "''")}'`)
    await admin.unsafe(`alter database ${name} rename to ${FILLED_TEMPLATE}`)
    return filled
  } finally {
    await admin.end()
  }
}

function ofTheRun(): string {
  const server = process.env.TEST_DATABASE_URL
  if (!server) throw new Error('TEST_DATABASE_URL is not set: run the tests with npm test, or node test/run.ts FILE')
  return server
}

async function copyDatabase(server: string, template: string): Promise<TestDatabase> {
  const admin = openDatabase({ url: server, name: 'test', connections: 1 })
  const name = await copyTemplate(admin, template)
  const url = databaseUrl(server, name)
  const sql = openDatabase({ url, name: 'test', connections: 3 })
  return {
    url,
    sql,
    async drop() {
      await sql.end({ timeout: 1 })
      await admin.unsafe(`drop database if exists ${name} with (force)`)
      await admin.end({ timeout: 1 })
    },
  }
}

/** Answers the name of the copy. */
async function copyTemplate(admin: Sql, template: string): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`
  // Copying the files is quicker than logging them, and the copy is thrown away anyway.
  await admin.unsafe(`create database ${name} template ${template} strategy file_copy`)
  return name
}

function databaseUrl(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

/** Moves the service's clock: every process on this database sees the new time with its next statement. */
export async function moveClock(sql: Sql, interval: string): Promise<void> {
  await sql.unsafe(
    `create or replace function service_now() returns timestamptz language sql stable as 'select now() + interval ''${interval}'''`,
  )
  await ensurePartitions(sql)
}

/** Creating one locks its parent against everything, and may meet a statement of the service half-way; the service tries again each minute. */
async function ensurePartitions(sql: Sql): Promise<void> {
  for (let time = 1; ; time++) {
    try {
      await sql`select ensure_partitions(service_now(), 1)`
      return
    } catch (error) {
      if ((error as { code?: string }).code !== DEADLOCK || time === 3) throw error
    }
  }
}

/** Stops the service's clock some seconds after a full hour, so that no window of time ends while a test counts. */
export async function stopClock(sql: Sql, { hours = 0, seconds = 5 } = {}): Promise<Date> {
  const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000
  const at = new Date(hour + hours * 3_600_000 + seconds * 1000)
  await sql.unsafe(
    `create or replace function service_now() returns timestamptz language sql stable as 'select timestamptz ''${at.toISOString()}'''`,
  )
  return at
}
