import t from 'tap'
import { METRICS, type Metric } from '../../../../packages/core/src/events/event-types.ts'
import { erase } from '../../../helpers/erase.ts'
import { makeService, type Sender, type TestService } from '../../../helpers/service.ts'
import { acceptMessage } from '../../submission.ts'
import { countAll, happen } from './happen.ts'

const DAYS = 40
const NAMES = 105
const PERSON = 'for lena@harbor.example'
const SUBJECTS = ['domain', 'tag', 'recipient_domain'] as const

type Subject = (typeof SUBJECTS)[number]
type Sums = Record<Metric, number>
interface DayRow extends Sums {
  readonly name: string | null
  readonly day: string
  readonly times: number
}

const today = new Date().toISOString().slice(0, 10)
const daysAgo = (days: number): string => new Date(Date.parse(today) - days * 86_400_000).toISOString().slice(0, 10)
/** The second begins and ends within weeks on most days. */
const spans = [
  { first: daysAgo(DAYS - 3), last: today },
  { first: daysAgo(25), last: daysAgo(5) },
]

/** Roll-ups of some weeks, with other names every day, some that end in the sum of those beyond a thousand. */
async function fillDays({ sql }: TestService, { accountId }: Sender): Promise<void> {
  const counts = METRICS.map((metric, at) => `(1 + d * 7 + i * ${at + 3}) % ${at + 5} as ${metric}`).join(', ')
  await sql.unsafe(`
    insert into roll_ups (account_id, subject, name, day, place, ${METRICS.join(', ')}, delivery_times)
    select ${accountId}, subject, name, date '${today}' - d, place, ${METRICS.join(', ')}, array[0, i % 3, d % 2]
      from (select subject, 'name ' || (i + d * 13) % ${NAMES * 2} as name, d, i, i + 1 as place, ${counts}
              from unnest(array['${SUBJECTS.join("','")}']) subject, generate_series(0, ${DAYS}) d, generate_series(1, ${NAMES}) i
            union all
            select subject, '', d, 5, null, ${counts.replaceAll('i *', '5 *')}
              from unnest(array['other tag', 'other recipient_domain']) subject, generate_series(0, ${DAYS}, 3) d
            union all
            select 'tag', '${PERSON}', d, 7, 999, ${counts.replaceAll('i *', '7 *')} from generate_series(0, ${DAYS}, 2) d) made`)
  await sql`
    insert into tags (account_id, name, created_at)
    select distinct account_id, name, service_now() from roll_ups where subject = 'tag' and account_id = ${accountId}`
}

/** Every roll-up of a day. */
async function dayRows({ sql }: TestService, accountId: number, subject: Subject): Promise<DayRow[]> {
  const sums = METRICS.map((metric) => `${metric}::float8`).join(', ')
  return sql<DayRow[]>`
    select case when subject = ${subject} then name end as name, to_char(day, 'YYYY-MM-DD') as day,
           coalesce((select sum(n) from unnest(delivery_times) n), 0)::float8 as times, ${sql.unsafe(sums)}
      from roll_ups where account_id = ${accountId} and subject = any(${[subject, `other ${subject}`]}::text[])`
}

function added(rows: readonly DayRow[]): Sums {
  return Object.fromEntries(METRICS.map((metric) => [metric, rows.reduce((sum, row) => sum + row[metric], 0)])) as Sums
}

const sortedNames = (rows: readonly DayRow[]): (string | null)[] => {
  const sums = [...Map.groupBy(rows, ({ name }) => name)].map(([name, of]) => ({ name, ...added(of) }))
  return sums
    .sort(
      (a, b) =>
        Number(a.name === null) - Number(b.name === null) ||
        b.sent - a.sent ||
        b.processed - a.processed ||
        order(a, b),
    )
    .map(({ name }) => name)
}
const order = (a: { name: string | null }, b: { name: string | null }): number =>
  (a.name ?? '') < (b.name ?? '') ? -1 : 1

function periodOf(day: string, period: 'day' | 'week' | 'month', first: string): string {
  const date = new Date(day)
  if (period === 'month') date.setUTCDate(1)
  if (period === 'week') date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7))
  const begin = date.toISOString().slice(0, 10)
  return begin < first ? first : begin
}

/** Where the calls answer something else than what the days add up to. */
async function differences(service: TestService, accountId: number): Promise<string[]> {
  const { stats } = service.core
  const found: string[] = []
  for (const subject of SUBJECTS) {
    const all = await dayRows(service, accountId, subject)
    for (const { first, last } of spans) {
      const rows = all.filter(({ day }) => day >= first && day <= last)
      const names = sortedNames(rows)
      const question = { accountId, first, last, limit: 100 }
      const byName = Map.groupBy(rows, ({ name }) => name)
      for (const offset of [0, 100]) {
        const answer = await stats.sums({ ...question, subject, offset })
        const wanted = names.slice(offset, offset + 100).map((name) => [name, added(byName.get(name) ?? [])])
        const got = answer.stats.map(({ name, counts }) => [name, counts])
        if (JSON.stringify(got) !== JSON.stringify(wanted) || answer.total !== names.length)
          found.push(`sums of ${subject} ${first} ${last} ${offset}`)
      }
      const top = new Set(names.filter((name) => name !== null).slice(0, 100))
      const shown = (name: string | null): string | null => (name !== null && top.has(name) ? name : null)
      for (const period of ['day', 'week', 'month'] as const) {
        const { periods } = await stats.show({ ...question, offset: 0, period, wanted: { kind: 'each', subject } })
        const wanted = Map.groupBy(rows, ({ name, day }) => `${periodOf(day, period, first)} ${shown(name)}`)
        const got = periods.flatMap(({ date, stats: of }) => of.map(({ name, counts }) => [`${date} ${name}`, counts]))
        const same = got.filter(
          ([key, counts]) => JSON.stringify(counts) === JSON.stringify(added(wanted.get(key as string) ?? [])),
        )
        if (same.length !== got.length || got.length !== wanted.size)
          found.push(`${subject} by ${period} ${first}: ${same.length} of ${got.length}, not ${wanted.size}`)
      }
    }
  }
  return found
}

/** The sums that are kept, and what they should be. */
async function wrongSums({ sql }: TestService, accountId: number): Promise<unknown[]> {
  const metrics = METRICS.map((metric) => `sum(${metric})::float8 as ${metric}`).join(', ')
  const kept = sql`
    select subject, name, day, ${sql.unsafe(metrics)}, (select sum(n) from unnest(sum_counts(delivery_times)) n) as times
      from roll_ups where account_id = ${accountId}`
  return [
    ...(await sql`
      with wanted as (
        select 'all ' || s.subject as subject, '' as name, r.day, ${sql.unsafe(metrics)}, (select sum(n) from unnest(sum_counts(r.delivery_times)) n)
          from roll_up_sums s join roll_ups r on r.account_id = s.account_id and r.subject in (s.subject, 'other ' || s.subject) and r.day < s.through
         where s.account_id = ${accountId} group by 1, 2, 3
        union all
        select r.subject || ' week', r.name, date_trunc('week', r.day)::date, ${sql.unsafe(metrics)},
               (select sum(n) from unnest(sum_counts(r.delivery_times)) n)
          from roll_up_sums s join roll_ups r on r.account_id = s.account_id and r.subject in (s.subject, 'other ' || s.subject)
           and date_trunc('week', r.day)::date + 7 <= s.through
         where s.account_id = ${accountId} group by 1, 2, 3
      ), sums as (${kept} and (subject like 'all %' or subject like '% week') group by 1, 2, 3)
      (select 'kept' as which, * from sums except select 'kept', * from wanted)
      union all (select 'wanted', * from wanted except select 'wanted', * from sums) limit 5`),
  ]
}

/** Sums all that is over. Returns after how many steps. */
async function sumAll(service: TestService, afterEach: () => Promise<void> = async () => {}): Promise<number> {
  for (let steps = 0; ; steps++) {
    if (!(await service.core.stats.sumSome())) return steps
    await afterEach()
  }
}

t.test('statistics of many names are the sums of their days, while and after days and weeks are summed', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  const { accountId } = sender
  await fillDays(service, sender)
  t.strictSame(await differences(service, accountId), [], 'of days alone')
  let step = 0
  const steps = await sumAll(service, async () => {
    if (++step % 9 === 5) t.strictSame(await differences(service, accountId), [], `after step ${step}`)
  })
  t.ok(steps > 3 * 5, `${steps} steps`)
  t.strictSame(await wrongSums(service, accountId), [])
  t.strictSame(await differences(service, accountId), [], 'of weeks')

  await t.test('with events that happened in days and weeks that were over', async (t) => {
    const tags = ['name 4', 'a name of its own']
    const { messageId } = await acceptMessage(service, sender, { tags })
    for (const days of [3, 12, 31]) {
      await service.sql`select ensure_partitions(service_now() - ${days}::int * interval '1 day', 1)`
      const at = `service_now() - interval '${days} days'`
      await happen(
        service,
        accountId,
        { type: 'opened', messageId, detail: { first: true }, at },
        { type: 'sent', messageId, at },
      )
    }
    await countAll(service)
    t.strictSame(await wrongSums(service, accountId), [])
    t.strictSame(await differences(service, accountId), [])
    const [own] = await service.sql`
      select sum(opened)::int as opened from roll_ups where account_id = ${accountId} and subject = 'tag week' and name = ${tags[1] as string}`
    t.ok(own?.opened >= 2, 'the weeks have them')
  })

  await t.test('with a tag whose name was erased', async (t) => {
    await erase(service.core, accountId, ['lena@harbor.example'])
    const left = await service.sql`select subject from roll_ups where account_id = ${accountId} and name = ${PERSON}`
    t.strictSame([...left], [])
    t.strictSame(await wrongSums(service, accountId), [])
    t.strictSame(await differences(service, accountId), [])
  })

  await t.test('with a day that was counted again', async (t) => {
    // Its roll-ups have no events: there are none then.
    const day = daysAgo(24)
    await service.core.stats.recount({ accountId, first: day, last: day })
    t.strictSame(await dayRows(service, accountId, 'tag').then((rows) => rows.filter((row) => row.day === day)), [])
    t.strictSame(await wrongSums(service, accountId), [])
    t.strictSame(await differences(service, accountId), [], 'at once')
    t.ok((await sumAll(service)) > 3, 'is summed again')
    t.strictSame(await wrongSums(service, accountId), [])
    t.strictSame(await differences(service, accountId), [])
  })
})

t.test('accounts with few names have no sums', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  await service.sql.unsafe(`
    insert into roll_ups (account_id, subject, name, day, place, ${METRICS.join(', ')})
    select ${sender.accountId}, 'tag', 'name ' || i, date '${today}' - d, i, ${METRICS.map(() => 1).join(', ')}
      from generate_series(1, 100) i, generate_series(0, 20) d`)
  t.equal(await sumAll(service), 0)
  t.strictSame([...(await service.sql`select from roll_up_sums`)], [])
})
