import type { NewRefused, QueueOverview } from '@postrider/core'
import t from 'tap'
import { answered, postrider } from '../../cli/postrider.ts'
import { stopClock } from '../../helpers/database.ts'
import { makeService } from '../../helpers/service.ts'
import { nodesOf, planOf, recordStatements, wholeScans } from '../../helpers/statements.ts'
import { openCore } from './queue-of.ts'

const one = (place: string, more: Partial<NewRefused> = {}): NewRefused => ({
  place,
  class: 'policy',
  permanent: 1,
  forNow: 0,
  reply: '550 no',
  ...more,
})

t.test(
  'what workers are refused is counted together by destination, with the latest reply of the largest class',
  async (t) => {
    const service = await makeService(t)
    const [first, second] = [openCore(t, service, 2), openCore(t, service, 2)]
    const count = (core: typeof first, ...refused: NewRefused[]) => core.deliveries.limits.countRefusals(refused)
    await count(first, one('mx.a.example', { permanent: 3 }), one('mx.b.example'))
    await count(
      second,
      one('mx.a.example', { permanent: 4, reply: '550 5.7.1 never' }),
      one('mx.a.example', { class: 'rate', permanent: 0, forNow: 5 }),
    )
    await count(second, one('mx.c.example', { permanent: 0, forNow: 2, reply: `451 ${'x'.repeat(400)} a@b.example` }))
    const { refused } = await answered<QueueOverview>(service.env, 'queue', '--limit', '2')
    t.match(refused, {
      places: [
        { place: 'mx.a.example', permanent: 7, forNow: 5, class: 'policy', reply: '550 5.7.1 never' },
        { place: 'mx.c.example', permanent: 0, forNow: 2, reply: /^451 x{195}…$/ },
      ],
      others: 1,
      partial: false,
    })
    t.match(
      (await postrider(service.env, 'queue', '--limit', '2')).stdout,
      '\nothers that refused mail: 1; show them with --limit',
    )
    const shown = await answered<{ refused: object[]; isProvider: boolean }>(
      service.env,
      'queue',
      'show',
      'mx.a.example',
    )
    t.match(shown.refused, [
      { class: 'policy', permanent: 7, forNow: 0 },
      { class: 'rate', permanent: 0, forNow: 5 },
    ])
  },
)

t.test(
  'however much a destination refuses, it is one row for each class and five minutes, and one statement for a batch',
  async (t) => {
    const { core, sql } = await makeService(t)
    const { limits } = core.deliveries
    const flood = one('mx.flood.example', { permanent: 1_000_000 })
    for (let at = 0; at < 20; at++) await limits.countRefusals([one(`mx.d${at}.example`), flood].slice(at % 2))
    const rows = await sql`select from destination_refusals where place = 'mx.flood.example'`
    t.ok(rows.length <= 2, `${rows.length} rows`)
  },
)

t.test(
  'with ten thousand destinations that refuse, the overview reads 100,000 rows by the key, and those of a destination their own',
  async (t) => {
    const service = await makeService(t)
    const { sql, env } = service
    // Five minutes that end meanwhile would be the first of thirteen.
    await stopClock(sql)
    // A day that nobody has deleted: what is older than an hour is not read.
    await sql.begin(async (patient) => {
      await patient`set local statement_timeout = 0`
      await patient`
      insert into destination_refusals (since, place, class, permanent, for_now, reply, at)
      select date_bin('5 minutes', service_now(), 'epoch') - s * interval '5 minutes', 'mx.d' || p || '.example', 'policy', p, 0, '550 no', service_now()
        from generate_series(0, 23) s, generate_series(1, 10000) p`
    })
    await sql`analyze destination_refusals`
    const recorder = await recordStatements(t, env.DATABASE_URL as string)
    const recorded = { ...env, DATABASE_URL: recorder.url }
    const { refused } = await answered<QueueOverview>(recorded, 'queue')
    t.match(refused, { places: { length: 20 }, others: 9980, partial: true })
    t.match(refused.places[0], { place: 'mx.d10000.example' })
    t.match(
      (await postrider(env, 'queue')).stdout,
      '\ntoo many destinations refused mail: the numbers are lower bounds',
    )
    t.match(await answered(recorded, 'queue', 'show', 'mx.d7.example'), {
      refused: [{ class: 'policy', permanent: 84 }],
    })
    const read = recorder.statements().filter(({ text }) => text.includes('destination_refusals'))
    t.equal(read.length, 2)
    for (const [at, statement] of read.entries()) {
      const plan = await planOf(sql, statement)
      t.same(wholeScans(plan), [], statement.text)
      const scans = nodesOf(plan).filter(({ node }) => node['Relation Name'] === 'destination_refusals')
      const limits = scans[0]?.above.filter((node) => node['Node Type'] === 'Limit')
      if (at === 0) t.equal(limits?.length, 2, 'of what is read, and of what is shown')
      t.ok(scans.length === 1 && scans.every(({ node }) => node['Index Cond']?.includes(at === 0 ? 'since' : 'place')))
    }
  },
)
