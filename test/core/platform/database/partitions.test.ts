import { createCore, createLog, openDatabase, readConfig } from '@postrider/core'
import t from 'tap'
import { makeWholeDatabase, moveClock } from '../../../helpers/database.ts'
import { isInTime } from '../../../helpers/pace.ts'
import { makeService, makeServiceOn } from '../../../helpers/service.ts'
import { until } from '../../../helpers/until.ts'
import { acceptMessage } from '../../submission.ts'

const PARENTS = ['attempts', 'bodies', 'engagements', 'events', 'finished_deliveries', 'messages', 'search_blocks']
const WEEK_MS = 7 * 86_400_000

const database = await makeWholeDatabase()
const { sql } = database
t.teardown(() => database.drop())

interface Partition {
  readonly parent: string
  readonly name: string
  readonly from: string
  readonly to: string
}

async function partitions(): Promise<Partition[]> {
  return sql<Partition[]>`
    select p.relname as parent, c.relname as name, bound[1] as "from", bound[2] as "to"
      from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent,
           regexp_match(pg_get_expr(c.relpartbound, c.oid), $re$FROM [(]'(.*)'[)] TO [(]'(.*)'[)]$re$) as bound
     where p.relkind = 'p' order by p.relname, c.relname`
}

/** The moment a bound stands for, whatever the table is partitioned by. */
function moment(bound: string): number {
  return /^[0-9a-f]{8}-/.test(bound)
    ? Number.parseInt(bound.replaceAll('-', '').slice(0, 12), 16)
    : Date.parse(bound.replace(/\+00$/, 'Z'))
}

t.test('a new database has partitions from last week to six weeks ahead, of every partitioned table', async (t) => {
  const found = await partitions()
  t.strictSame([...new Set(found.map(({ parent }) => parent))], PARENTS)
  const now = Date.now()
  for (const parent of PARENTS) {
    const own = found.filter((partition) => partition.parent === parent)
    t.equal(own.length, 8, parent)
    t.ok(moment(own[0]?.from ?? '') <= now - WEEK_MS, `${parent} begins a week ago`)
    t.ok(moment(own.at(-1)?.to ?? '') > now + 6 * WEEK_MS, `${parent} lasts for six weeks`)
  }
})

t.test('ensure_partitions makes nothing twice', async (t) => {
  t.strictSame([...(await sql`select ensure_partitions(now(), 6) as made`)], [{ made: 0 }])
})

t.test('ten processes at once make each partition once', async (t) => {
  const pools = Array.from({ length: 10 }, () => openDatabase({ url: database.url, name: 'test', connections: 1 }))
  const made = await Promise.all(
    pools.map(async (pool) => (await pool`select ensure_partitions('2040-06-06', 2) as made`)[0]?.made as number),
  )
  t.equal(
    made.reduce((sum, count) => sum + count, 0),
    4 * PARENTS.length,
  )
  for (const pool of pools) await pool.end()
})

/** Turns of the year: 2026 has 53 ISO weeks, and the first one of 2030 begins in December 2029. */
const TURNS: readonly (readonly [from: string, names: readonly string[]])[] = [
  ['2026-12-14', ['2026w50', '2026w51', '2026w52', '2026w53', '2027w01', '2027w02']],
  ['2029-12-17', ['2029w50', '2029w51', '2029w52', '2030w01', '2030w02', '2030w03']],
]

for (const [from, names] of TURNS) {
  t.test(`weeks follow each other without gap or overlap from ${from} on, named by ISO week`, async (t) => {
    for (let week = 0; week < 5; week++) {
      await sql`select ensure_partitions(${`${from}T00:00:00Z`}::timestamptz + ${week} * interval '7 days', 0)`
    }
    const all = await partitions()
    for (const parent of PARENTS) {
      const own = all.filter(({ name }) => names.some((week) => name === `${parent}_${week}`))
      t.strictSame(
        own.map(({ name }) => name.slice(parent.length + 1)),
        names,
      )
      for (const [at, { name, from, to }] of own.entries()) {
        t.equal(new Date(moment(from)).getUTCDay(), 1, `${name} begins on a Monday`)
        t.equal(moment(from) % 86_400_000, 0, 'at midnight in UTC')
        t.equal(moment(to) - moment(from), WEEK_MS)
        t.equal(to, own[at + 1]?.from ?? to, `${name} ends where the next one begins`)
      }
    }
  })
}

t.test('a session in another time zone makes the same partitions', async (t) => {
  const bounds = async (zone: string, day: string) => {
    await sql.begin(async (transaction) => {
      await transaction.unsafe(`set local timezone = '${zone}'`)
      await transaction`select ensure_partitions(${day}::timestamptz, 0)`
    })
    const found = await partitions()
    return found.filter(({ name }) => name.endsWith(day.startsWith('2041') ? '2041w10' : '2042w10'))
  }
  const far = await bounds('Pacific/Kiritimati', '2041-03-05T00:00:00Z')
  t.equal(far.length, PARENTS.length)
  for (const { from, to } of far) {
    t.equal(moment(from), Date.UTC(2041, 2, 4))
    t.equal(moment(to), Date.UTC(2041, 2, 11))
  }
  const west = await bounds('America/Los_Angeles', '2042-03-04T03:00:00Z')
  for (const { from } of west) t.equal(moment(from), Date.UTC(2042, 2, 3))
})

t.test('the last instant of a week and the first of the next lie in their own partitions', async (t) => {
  await sql`select ensure_partitions('2044-01-06', 1)`
  const monday = '2044-01-11T00:00:00Z'
  const rows = await sql`
    insert into events (occurred_at, account_id, type)
    values (${monday}::timestamptz - interval '1 microsecond', 1, 'sent'), (${monday}, 1, 'sent')
    returning tableoid::regclass::text as partition`
  t.strictSame(
    rows.map(({ partition }) => partition),
    ['events_2044w01', 'events_2044w02'],
  )
  // The id of a message carries milliseconds; the rest of it is random (RFC 9562 5.7).
  const hex = (ms: number) => ms.toString(16).padStart(12, '0')
  const bodies = await sql`
    insert into bodies (message_id, part, encoding, content)
    values (${`${hex(Date.parse(monday) - 1)}7fffbfffffffffffffff`}::uuid, 0, 'raw', ''),
           (${`${hex(Date.parse(monday))}70008000000000000000`}::uuid, 0, 'raw', '')
    returning tableoid::regclass::text as partition`
  t.strictSame(
    bodies.map(({ partition }) => partition),
    ['bodies_2044w01', 'bodies_2044w02'],
  )
})

t.test('cleanup makes the partitions of the time that has come', async (t) => {
  const service = await makeService(t)
  await service.sql.unsafe(
    `create or replace function service_now() returns timestamptz language sql stable as 'select now() + interval ''1 year'''`,
  )
  const count = async () =>
    (
      await service.sql`select count(*)::int as count from pg_inherits i join pg_class c on c.oid = i.inhparent where c.relkind = 'p'`
    )[0]?.count as number
  const before = await count()
  await service.core.cleanUp()
  t.equal((await count()) - before, 8 * PARENTS.length)
})

t.test('a message is accepted and shown a year from now', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  await moveClock(service.sql, '1 year')
  const { messageId } = await acceptMessage(service, sender)
  const story = await service.core.messages.show(messageId)
  t.equal(story?.acceptedAt.getUTCFullYear(), new Date(Date.now() + 365 * 86_400_000).getUTCFullYear())
  t.strictSame(
    story?.events.map(({ type }) => type),
    ['processed'],
  )
})

t.test('making partitions delays no accept, however long a reader holds the tables', async (t) => {
  const service = await makeServiceOn(t, await makeWholeDatabase())
  const sender = await service.makeSender()
  await acceptMessage(service, sender)
  const reader = openDatabase({ url: service.env.DATABASE_URL as string, name: 'test', connections: 1 })
  t.teardown(() => reader.end())
  await service.sql.unsafe(
    `create or replace function service_now() returns timestamptz language sql stable as 'select now() + interval ''5 weeks'''`,
  )
  await reader.begin(async (transaction) => {
    await transaction`select count(*) from messages, bodies, events`
    const cleaning = service.core.cleanUp().catch(() => {})
    await until(
      'the cleaning to wait for a lock',
      async () =>
        (
          await service.sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
        ).length > 0,
    )
    const startedAt = performance.now()
    await acceptMessage(service, sender)
    t.ok(isInTime(startedAt, 8000))
    await cleaning
  })
  await service.core.cleanUp()
  const [{ made } = { made: -1 }] = await service.sql<
    { made: number }[]
  >`select ensure_partitions(service_now(), 6) as made`
  t.equal(made, 0, 'once the reader has gone they are made')
})

t.test('two cores that clean up at once do not block each other', async (t) => {
  const service = await makeService(t)
  const config = readConfig(service.env)
  const other = createCore({ sql: service.sql, config, log: createLog('test', 'silent') })
  t.teardown(() => other.readiness.close())
  await Promise.all([service.core.cleanUp(), other.cleanUp(), service.core.cleanUp(), other.cleanUp()])
  t.pass()
})
