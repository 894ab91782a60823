import { openDatabase, type Sql } from '@postrider/core'
import t from 'tap'
import { PERSON } from '../../../../bench/growth/scale.ts'
import { createReads } from '../../../../packages/core/src/platform/database/reads.ts'
import { createSecrets } from '../../../../packages/core/src/platform/security/secrets.ts'
import { createEventLog, type LogQuestion } from '../../../../packages/core/src/reporting/event-log/index.ts'
import { selectEnd } from '../../../../packages/core/src/reporting/event-log/store.ts'
import { makeGrownService } from '../../../helpers/grown.ts'
import { nodesOf, type PlanNode, planOf, recordStatements, wholeScans } from '../../../helpers/statements.ts'

const {
  service,
  owners: { large: accountId },
} = await makeGrownService(t)
const url = service.env.DATABASE_URL as string
const recorder = await recordStatements(t, url)
const own = openDatabase({ url: recorder.url, name: 'test', connections: 1 })
t.teardown(() => own.end())
const reads = createReads({ primary: own, standby: undefined, now: Date.now })
const eventLog = createEventLog({ reads, secrets: createSecrets('x'.repeat(32)) })
// As the log reads but for a person. Parameters are null where plans are read: no week may be left out for that.
const inOrder = openDatabase({ url, name: 'test', connections: 1 })
t.teardown(() => inOrder.end())
await inOrder`
  select set_config(name, 'off', false)
    from unnest(array['enable_sort', 'enable_hashagg', 'enable_hashjoin', 'enable_mergejoin', 'enable_bitmapscan',
                      'enable_seqscan', 'enable_material', 'enable_partition_pruning']) name`

const ALL = { from: '00000000-0000-7000-8000-000000000000', to: 'ffffffff-ffff-7fff-bfff-ffffffffffff' }

async function ask(asked: Partial<LogQuestion>): Promise<void> {
  await eventLog.page({ accountId, first: '2020-01-01', limit: 10, ...asked }, (row) => row)
}

/** The plans of the statements that say this, of those that came since the last time. */
async function plansOf(said: RegExp, sql: Sql): Promise<{ text: string; nodes: PlanNode[] }[]> {
  const plans: { text: string; nodes: PlanNode[] }[] = []
  for (const statement of recorder.statements().filter(({ text }) => said.test(text))) {
    const plan = await planOf(sql, statement)
    // What workers hold is looked through.
    const whole = wholeScans(plan).filter((scan) => scan !== 'Index Scan on delivery_queue')
    t.same(whole, [], statement.text)
    plans.push({ text: statement.text, nodes: nodesOf(plan).map(({ node }) => node) })
  }
  recorder.clear()
  return plans
}

t.test('deliveries to which something happened are found in the indexes of events alone, in their order', async (t) => {
  for (const events of [['hardbounce'], ['softbounce'], ['open'], ['click', 'unsubscribe'], ['bounce', 'spam']]) {
    for (const sort of ['asc', 'desc'] as const) await ask({ events, sort })
  }
  const plans = await plansOf(/from events e\s.*group by 1, 2/s, inOrder)
  t.equal(plans.length, 15, 'a count and two pages for each shape of a question')
  for (const { text, nodes } of plans) {
    const scans = nodes.filter((node) => /^events_/.test(node['Relation Name'] ?? ''))
    t.ok(scans.length > 0)
    t.same([...new Set(scans.map((node) => node['Node Type']))], ['Index Only Scan'], text)
    if (text.includes('sum(count)'))
      t.notOk(/Sort|Hash/.test(nodes.map((node) => node['Node Type']).join()), 'nothing is set aside')
  }
})

t.test('a person is found by indexes of persons, however much waits', async (t) => {
  for (const asked of [{}, { events: ['open'] }, { subject: 'Berth 4' }]) await ask({ email: PERSON, ...asked })
  const plans = await plansOf(/hashtextextended/, service.sql)
  t.ok(plans.length >= 4)
  for (const { text, nodes } of plans) {
    const waiting = nodes.filter(
      (node) => node['Relation Name'] === 'delivery_queue' || /^delivery_q/.test(node['Index Name'] ?? ''),
    )
    const names = new Set(waiting.map((node) => node['Index Name']).filter((name) => name !== undefined))
    t.same([...names].sort(), ['delivery_queue_person', 'delivery_queue_worker'], text)
  }
})

t.test(
  'where a search of too much ends is found in the order of the index, without sorting what comes after',
  async (t) => {
    const search = { accountId, filter: { subject: 'Berth 4', nothing: false }, span: ALL }
    for (const sort of ['asc', 'desc'] as const) await selectEnd(own, search, sort, 10)
    const plans = await plansOf(/sum\(recipients\) over/, inOrder)
    t.equal(plans.length, 2)
    for (const { text, nodes } of plans) {
      const kinds = nodes.map((node) => node['Node Type'])
      t.ok(kinds.includes('Index Only Scan') && kinds.includes('WindowAgg'), text)
      t.notOk(/Sort/.test(kinds.join()), kinds.join())
    }
  },
)
