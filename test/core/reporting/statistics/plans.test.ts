import type { StatsQuery } from '@postrider/core'
import { createCore, createLog, openDatabase, readConfig } from '@postrider/core'
import t from 'tap'
import { makeGrownService } from '../../../helpers/grown.ts'
import { nodesOf, planOf, recordStatements, wholeScans } from '../../../helpers/statements.ts'
import { countAll, happen } from './happen.ts'

const {
  service,
  owners: { large: accountId },
} = await makeGrownService(t)
const url = service.env.DATABASE_URL as string
const recorder = await recordStatements(t, url)
const sql = openDatabase({ url: recorder.url, name: 'test', connections: 2 })
const core = createCore({ sql, config: readConfig(service.env), log: createLog('test', 'silent') })
t.teardown(async () => {
  core.readiness.close()
  await sql.end({ timeout: 1 })
})

const today = new Date()
const day = (before: number): string => new Date(today.getTime() - before * 86_400_000).toISOString().slice(0, 10)
const month = { accountId, first: day(29), last: day(0), limit: 100, offset: 0 }

t.test("one name's statistics are read by its key, not among those of all names", async (t) => {
  recorder.clear()
  const show = (wanted: StatsQuery['wanted']) => core.stats.show({ ...month, period: 'day', wanted })
  await show({ kind: 'one', subject: 'domain', name: 'large-7.example' })
  await show({ kind: 'one', subject: 'recipient_domain', name: 'd7.example' })
  await show({ kind: 'some', subject: 'tag', names: ['tag-000007', 'tag-000008'] })
  const groups = new Map([['Harbors', ['d7.example', 'd8.example']]])
  await show({ kind: 'groups', subject: 'recipient_domain', groups, others: 'Other' })
  await core.stats.sums({ ...month, subject: 'tag', name: 'tag-000007' })
  const read = recorder.statements().filter(({ text }) => text.includes('from roll_ups'))
  t.ok(read.length >= 2)
  for (const statement of read) {
    const scans = nodesOf(await planOf(service.sql, statement)).filter(
      ({ node }) => node['Relation Name'] === 'roll_ups',
    )
    for (const { node } of scans) {
      t.equal(node['Index Name'], 'roll_ups_pkey')
      t.match(node['Index Cond'], /ROW\(name, day\) >= .*ROW\(name, day\) <= /)
    }
  }
})

t.test('a name is looked up by its key while events are counted', async (t) => {
  recorder.clear()
  await happen(service, accountId, { type: 'unsubscribed' })
  await countAll({ core, sql: service.sql })
  const counting = recorder.statements().filter(({ text }) => text.includes('earlier_place'))
  t.equal(counting.length, 1)
  for (const statement of counting) {
    const lookups = nodesOf(await planOf(service.sql, statement)).filter(
      ({ node }) => node['Index Name'] === 'roll_ups_pkey' && node['Index Cond']?.includes('ROW(name, day) <='),
    )
    t.equal(lookups.length, 1)
  }
})

t.test('all names are read by the index of days, and those of weeks that are over are few', async (t) => {
  while (await core.stats.sumSome()) {}
  recorder.clear()
  await core.stats.show({ ...month, period: 'week', times: true, wanted: { kind: 'each', subject: 'tag' } })
  await core.stats.sums({ ...month, subject: 'domain' })
  const read = recorder.statements().filter(({ text }) => text.includes('from roll_ups'))
  t.equal(read.length, 4, 'the names with most mail, their counts, all together; the sums')
  for (const statement of read) {
    const scans = nodesOf(await planOf(service.sql, statement)).filter(
      ({ node }) => node['Relation Name'] === 'roll_ups',
    )
    t.ok(scans.length > 0)
    for (const { node } of scans) {
      t.match(node['Node Type'], /^Index Scan/)
      t.match(node['Index Cond'], node['Index Name'] === 'roll_ups_day' ? /day >= .*day <= / : /ROW\(name, day\) <= /)
    }
  }
})

t.test('bounces are counted by the index of notable events, and looked at only when they are few', async (t) => {
  recorder.clear()
  const span = { accountId, first: day(20), last: day(0) }
  await core.stats.bounces({ ...span, classification: undefined })
  await core.stats.bounces({ ...span, classification: 'Reputation' })
  const read = recorder.statements().filter(({ text }) => text.includes('from events'))
  t.equal(read.length, 3, 'how many there are, and two ways to tell them apart')
  for (const statement of read) {
    const plan = await planOf(service.sql, statement)
    t.same(wholeScans(plan), [], statement.text)
    const scans = nodesOf(plan).flatMap(({ node }) => (/^events_/.test(node['Relation Name'] ?? '') ? [node] : []))
    t.ok(scans.length > 0)
    const counts = statement.text.includes('limit')
    t.same(new Set(scans.map((node) => node['Node Type'])), new Set([counts ? 'Index Only Scan' : 'Index Scan']))
    for (const node of scans) {
      t.match(node['Index Name'], /_account_id_type_message_id_recipient_no_occu_idx\d*$/)
      t.match(node['Index Cond'], /occurred_at >= /)
      // Postgres 15 filters in a partition that has few events.
      t.match(`${node['Index Cond']} ${node.Filter}`, /type = ANY /)
    }
  }
})
