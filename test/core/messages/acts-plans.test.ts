import { openDatabase } from '@postrider/core'
import t from 'tap'
import { makeGrownService } from '../../helpers/grown.ts'
import { nodesOf, planOf, recordStatements, wholeScans } from '../../helpers/statements.ts'
import { openCore } from '../delivery/queue-of.ts'

t.test('on a grown database opens and clicks of a thousand deliveries are read by their key', async (t) => {
  const { service, owners } = await makeGrownService(t)
  const recorder = await recordStatements(t, service.env.DATABASE_URL as string)
  const recorded = openCore(t, service, 2, recorder.url)
  const inOrder = openDatabase({ url: service.env.DATABASE_URL as string, name: 'test', connections: 1 })
  t.teardown(() => inOrder.end())
  await inOrder`
    select set_config(name, 'off', false)
      from unnest(array['enable_sort', 'enable_hashjoin', 'enable_mergejoin', 'enable_bitmapscan', 'enable_seqscan']) name`
  const page = await recorded.messages.list({ accountId: owners.large, search: {}, limit: 1000 })
  t.equal(page.deliveries.length, 1000)
  recorder.clear()
  t.equal((await recorded.messages.countActs(page.deliveries)).length, 1000)
  const read = recorder.statements().filter(({ text }) => /engagements/.test(text))
  t.equal(read.length, 1)
  for (const statement of read) {
    const plan = await planOf(inOrder, statement)
    t.same(wholeScans(plan), [], statement.text)
    const scans = nodesOf(plan).filter(({ node }) => /engagements/.test(node['Index Name'] ?? ''))
    t.ok(scans.length > 0)
    for (const { node } of scans) t.match(node['Index Cond'], /message_id = .*recipient_no = /)
  }
})
