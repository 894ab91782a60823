import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { applyLaterMigrations, type Sql } from '@postrider/core'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { until } from '../../../helpers/until.ts'
import { makeEmptyDatabase } from './empty-database.ts'

const BACKFILL = `-- backfill parcels
with step as (select id from parcels where id > coalesce($1::text, '0')::int order by id limit 100),
changed as (update parcels p set weight_g = weight_kg * 1000 from step where p.id = step.id)
select max(id)::text as bookmark, count(*) as rows from step`

/** A version whose migrations are these, on a database with a thousand parcels. */
async function makeVersion(t: Test, files: Readonly<Record<string, string>>) {
  const database = await makeEmptyDatabase(t)
  const sql = database.open(4)
  const folder = mkdtempSync(`${tmpdir()}/sql-`)
  for (const [name, text] of Object.entries(files)) writeFileSync(`${folder}/${name}.sql`, text)
  await sql`create table schema_migrations (name text primary key, digest text not null, applied_at timestamptz default now())`
  await sql`create table schema_minimum (version int)`
  await sql`insert into schema_minimum values (78)`
  await sql`create table schema_backfills (name text primary key, bookmark text, rows bigint, updated_at timestamptz)`
  await sql`create table parcels as select id, id % 30 as weight_kg, null::int as weight_g from generate_series(1, 1000) id`
  await sql`analyze parcels`
  return { sql, folder, url: database.url }
}

const appliedOn = async (sql: Sql) =>
  (await sql`select name from schema_migrations order by name`).map(({ name }) => name)

t.test('a backfill goes in steps, and after an end in the middle continues where it was', async (t) => {
  const { sql, folder } = await makeVersion(t, { '0092_grams': BACKFILL })
  const stop = new AbortController()
  const steps: number[][] = []
  const report = (_name: string, rows: number, estimate: number) => {
    steps.push([rows, estimate])
    if (rows === 300) stop.abort()
  }
  t.match(await applyLaterMigrations(sql, { folder, report, signal: stop.signal }), { applied: [] })
  t.strictSame(
    steps,
    [100, 200, 300].map((rows) => [rows, 1000]),
  )
  t.strictSame(await appliedOn(sql), [])
  // A row that the first part has filled is not touched again.
  await sql`update parcels set weight_g = -1 where id = 5`

  t.match(await applyLaterMigrations(sql, { folder }), { applied: ['0092_grams.sql'], waiting: undefined, busy: false })
  t.match(await sql`select count(*)::int as count from parcels where weight_g = weight_kg * 1000`, [{ count: 999 }])
  t.match(await sql`select weight_g from parcels where id = 5`, [{ weight_g: -1 }])
  t.match(await sql`select rows::int from schema_backfills`, [{ rows: 1000 }])
  t.strictSame(await applyLaterMigrations(sql, { folder }), { applied: [], waiting: undefined, busy: false })
})

t.test('of two processes, one applies them', async (t) => {
  const { sql, folder, url } = await makeVersion(t, { '0092_grams': BACKFILL })
  // Who applies them is held at the first row until the other one has come.
  const holder = postgres(url, { max: 1 })
  t.teardown(() => holder.end())
  await holder`begin`
  await holder`select from parcels where id = 1 for update`
  const both = [applyLaterMigrations(sql, { folder }), applyLaterMigrations(sql, { folder })]
  t.match(await Promise.race(both), { applied: [], busy: true })
  await holder`commit`
  const results = await Promise.all(both)
  t.same(results.map(({ busy }) => busy).sort(), [false, true])
  t.match(await sql`select rows::int from schema_backfills`, [{ rows: 1000 }], 'no row was read twice')
})

t.test('an index is built while rows are written, and one whose build was interrupted is built again', async (t) => {
  const text = '-- index parcels_by_weight\ncreate index concurrently parcels_by_weight on parcels (weight_kg)'
  const { sql, folder, url } = await makeVersion(t, { '0093_parcels_by_weight': text })
  // A transaction that is open lets the build wait; the cancelled build leaves an invalid index.
  const writer = postgres(url, { max: 1 })
  t.teardown(() => writer.end())
  await writer`begin`
  await writer`update parcels set weight_kg = 3 where id = 1`
  const building = applyLaterMigrations(sql, { folder })
  const [builder] = await until('the build to wait', async () => {
    const rows =
      await sql`select pid from pg_stat_activity where query like '%concurrently%' and wait_event_type = 'Lock' and datname = current_database()`
    return rows.length > 0 && rows
  })
  await writer`update parcels set weight_kg = 4 where id = 2`
  // Expected from here on: the build's end can be heard of before the answer to the statement that ends it.
  const cancelled = t.rejects(building, { message: /^sql\/0093_parcels_by_weight\.sql: canceling statement/ })
  await sql`select pg_cancel_backend(${builder?.pid})`
  await cancelled
  await writer`commit`
  t.match(await sql`select indisvalid from pg_index where indexrelid = 'parcels_by_weight'::regclass`, [
    { indisvalid: false },
  ])

  t.match(await applyLaterMigrations(sql, { folder }), { applied: ['0093_parcels_by_weight.sql'] })
  t.match(await sql`select indisvalid from pg_index where indexrelid = 'parcels_by_weight'::regclass`, [
    { indisvalid: true },
  ])
})

t.test('what older processes use is removed once none of them runs, and none can start afterwards', async (t) => {
  const text = '-- contract since 79\nalter table parcels drop column weight_kg'
  const { sql, folder, url } = await makeVersion(t, { '0094_no_kilograms': text })
  const connected = async (name: string) => {
    const session = postgres(url, { max: 1, connection: { application_name: name } })
    await session`select 1`
    return session
  }
  const [older, oldest, newer] = await Promise.all(
    ['postrider api v77', 'postrider relay', 'postrider delivery v79'].map(connected),
  )
  t.teardown(() => Promise.all([older, oldest, newer].map((one) => one?.end())))
  t.match(await applyLaterMigrations(sql, { folder }), {
    applied: [],
    waiting: {
      name: '0094_no_kilograms.sql',
      for: [
        { program: 'api', version: 77 },
        { program: 'relay', version: 78 },
      ],
    },
  })
  await older?.end()
  t.match(await applyLaterMigrations(sql, { folder }), { waiting: { for: [{ program: 'relay', version: 78 }] } })
  await oldest?.end()
  await until('its session to end', async () => {
    const { waiting } = await applyLaterMigrations(sql, { folder })
    return waiting === undefined
  })
  t.strictSame(await appliedOn(sql), ['0094_no_kilograms.sql'])
  t.match(await sql`select version from schema_minimum`, [{ version: 79 }])
  await t.rejects(sql`select weight_kg from parcels`)
})

t.test('a file whose first line does not state its kind is refused', async (t) => {
  const { sql, folder } = await makeVersion(t, { '0095_unkind': 'alter table parcels add column height int' })
  await t.rejects(applyLaterMigrations(sql, { folder }), {
    message: /^sql\/0095_unkind\.sql: the first line must be "-- expand"/,
  })
})
