import { createCore, createLog, type Rate, type Standing } from '@postrider/core'
import t, { type Test } from 'tap'
import { stopClock } from '../../helpers/database.ts'
import { makeService } from '../../helpers/service.ts'
import { until } from '../../helpers/until.ts'
import { refused } from '../refused.ts'

const service = await makeService(t)
const { sql } = service

/** What another process of this installation has: counters of its own over the same database. */
function anotherProcess(t: Test) {
  const core = createCore({ sql, config: service.config, log: createLog('test', 'silent') })
  t.teardown(() => core.readiness.close())
  return core.rateLimits
}

let rates = 0
const rateOf = (limit: number, seconds = 60): Rate => ({ name: `test ${++rates}`, what: 'tests', limit, seconds })
const taken = async ({ name }: Rate): Promise<number> =>
  (await sql`select coalesce(sum(taken), 0)::int as taken from allowances where name = ${name}`)[0]?.taken
const allowed = (standings: readonly Standing[]) => standings.filter(({ refused }) => !refused).length

await stopClock(sql, { seconds: 20 })

for (const limit of [1, 7, 49, 50, 120, 1000]) {
  t.test(`four processes give exactly ${limit} of ${limit}, and refuse only then`, async (t) => {
    const rate = rateOf(limit)
    const processes = Array.from({ length: 4 }, () => anotherProcess(t))
    const standings = await Promise.all(
      Array.from({ length: limit * 2 + 40 }, (_, n) => processes[n % 4]?.take([rate]) as Promise<Standing>),
    )
    t.equal(allowed(standings), limit)
    const refusal = standings.find((one) => one.refused)
    t.match(refusal, { remaining: 0, rate: { limit } })
    t.ok((refusal?.retryAfter ?? 0) > 30 && (refusal?.retryAfter ?? 0) <= 40, `${refusal?.retryAfter} s`)
    t.equal((refusal?.reset ?? 0) % 60, 0, 'windows begin at full minutes')
  })
}

t.test('one process that asks alone gets all of a limit, whatever amounts it asks for', async (t) => {
  const rate = rateOf(500, 3600)
  const limits = anotherProcess(t)
  let given = 0
  for (const amount of [1, 30, 7, 100, 2, 60, 300, 1, 250, 40, 9, 300]) {
    if (!(await limits.take([rate], amount)).refused) given += amount
  }
  while (!(await limits.take([rate])).refused) given++
  t.equal(given, 500)
  t.equal(await taken(rate), 500)
})

t.test('a large limit costs a statement in fifty calls', async (t) => {
  const rate = rateOf(600)
  await sql`create table statements (name text)`
  await sql.unsafe(`
    create function count_statement() returns trigger language plpgsql as $$ begin
      insert into statements values (new.name); return new; end $$;
    create trigger count_statement before insert on allowances for each row execute function count_statement()`)
  const limits = anotherProcess(t)
  for (let time = 0; time < 600; time++) t.notOk((await limits.take([rate])).refused)
  t.equal((await limits.take([rate])).refused, true)
  for (let time = 0; time < 100; time++) await limits.take([rate])
  const [row] = await sql`select count(*)::int as statements from statements where name = ${rate.name}`
  t.equal(row?.statements, 51, 'refusals cost none')
  await sql`drop trigger count_statement on allowances`
})

t.test('the answer says what is left and when it starts again', async (t) => {
  const rate = rateOf(10)
  const limits = anotherProcess(t)
  for (let left = 9; left >= 0; left--) t.match(await limits.take([rate]), { remaining: left, refused: false })
  t.match(await limits.take([rate]), { remaining: 0, refused: true })
})

t.test('of two rates none is taken where one refuses, and the tightest is told', async (t) => {
  const [wide, narrow] = [rateOf(10), rateOf(3)]
  const limits = anotherProcess(t)
  for (let time = 0; time < 3; time++) t.match(await limits.take([wide, narrow]), { rate: narrow, remaining: 2 - time })
  for (let time = 0; time < 20; time++) t.match(await limits.take([wide, narrow]), { rate: narrow, refused: true })
  t.match(await limits.take([wide]), { remaining: 6, refused: false })
})

t.test('a narrower limit on the same allowance counts what the wider one gave', async (t) => {
  const wide = rateOf(200)
  const narrow = { ...wide, limit: 20 }
  const limits = anotherProcess(t)
  for (let time = 0; time < 30; time++) await limits.take([wide])
  const before = await taken(wide)
  t.match(await limits.take([narrow]), { refused: true })
  t.equal(await taken(wide), before)
  t.match(await limits.take([wide]), { refused: false })
})

t.test('the next window begins with all of it, though the one before was used up', async (t) => {
  const rate = rateOf(2, 3600)
  const limits = anotherProcess(t)
  t.equal(allowed([await limits.take([rate]), await limits.take([rate]), await limits.take([rate])]), 2)
  await stopClock(sql, { hours: 1, seconds: 1 })
  await until('the next window', async () => !(await limits.take([rate])).refused)
  await stopClock(sql, { seconds: 20 })
})

t.test('while the database is away the answer is notReady, and afterwards all goes on', async (t) => {
  const rate = rateOf(2)
  const limits = anotherProcess(t)
  await sql`alter table allowances rename to allowances_away`
  await t.rejects(limits.take([rate]), { code: '42P01' }, 'a fault stays one')
  await sql`alter table allowances_away rename to allowances`
  await sql`create function fail() returns trigger language plpgsql as $$ begin raise exception 'x' using errcode = '57P01'; end $$`
  await sql`create trigger fail before insert on allowances for each row execute function fail()`
  t.equal(await refused(limits.take([rate])), 'notReady')
  await sql`drop trigger fail on allowances`
  t.equal((await limits.take([rate])).refused, false)
})

t.test('cleanup deletes windows long past, in bounded batches', async (t) => {
  await sql`
    insert into allowances (name, starts_at, taken, granted)
    select 'old ' || n, service_now() - interval '3 hours', 1, 1 from generate_series(1, 12000) as n`
  const rate = rateOf(5)
  const limits = anotherProcess(t)
  await limits.take([rate])
  t.equal(await limits.forgetOldWindows(), 5000)
  await service.core.cleanUp()
  t.strictSame([...(await sql`select count(*)::int as old from allowances where name like 'old %'`)], [{ old: 0 }])
  t.equal(await taken(rate), 1)
})

t.test('what was taken within a day counts until its end, also after a cleanup', async (t) => {
  const rate = rateOf(3, 86_400)
  const midnight = -new Date().getUTCHours()
  await stopClock(sql, { hours: midnight + 1 })
  const limits = anotherProcess(t)
  t.equal(allowed([await limits.take([rate]), await limits.take([rate]), await limits.take([rate])]), 3)
  await stopClock(sql, { hours: midnight + 23 })
  await service.core.cleanUp()
  t.ok((await anotherProcess(t).take([rate])).refused, 'another process gives nothing on the same day')
  await stopClock(sql, { hours: midnight + 27 })
  await service.core.cleanUp()
  t.equal(await taken(rate), 0, 'the next day it is deleted')
})
