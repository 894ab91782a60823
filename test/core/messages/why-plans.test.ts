import { openDatabase } from '@postrider/core'
import t from 'tap'
import { parkedAt } from '../../helpers/claim.ts'
import { makeGrownService } from '../../helpers/grown.ts'
import { registerWorker } from '../../helpers/lease.ts'
import { isInTime } from '../../helpers/pace.ts'
import { nodesOf, planOf, recordStatements, wholeScans } from '../../helpers/statements.ts'
import { openCore, recipients } from '../delivery/queue-of.ts'
import { acceptMessage, envelopeTo } from '../submission.ts'

t.test('on a grown database every statement reads by an index, whatever the deliveries wait for', async (t) => {
  const { service, owners } = await makeGrownService(t)
  const { core } = service
  const recorder = await recordStatements(t, service.env.DATABASE_URL as string)
  const recorded = openCore(t, service, 2, recorder.url)
  const inOrder = openDatabase({ url: service.env.DATABASE_URL as string, name: 'test', connections: 1 })
  t.teardown(() => inOrder.end())
  // As it reads. Parameters are null where plans are read: no week may be left out for that.
  await inOrder`
    select set_config(name, 'off', false)
      from unnest(array['enable_sort', 'enable_hashagg', 'enable_hashjoin', 'enable_mergejoin', 'enable_bitmapscan',
                        'enable_seqscan', 'enable_material', 'enable_partition_pruning']) name`
  const sender = await service.makeSender()
  const { accountId } = sender
  const { workerId } = await registerWorker(t, core)
  const envelopes = recipients(3).map((to) => envelopeTo(to))
  const { messageId } = await acceptMessage(service, sender, { envelopes })
  const [one, two] = await core.deliveries.claim({ workerId, shares: [{ accountId, class: 1, limit: 2 }] })
  if (!one || !two) throw new Error('nothing was claimed')
  await core.deliveries.park(workerId, parkedAt([one], { place: 'yahoo', waitingFor: 'pause' }))
  await core.deliveries.release(workerId, [two], 0)
  const batchId = await core.batches.create(accountId)
  await core.batches.hold({ accountId, id: batchId, by: { keyId: null, address: null } }, 'pause')
  const held = await acceptMessage(service, sender, { batchId, scheduledAt: new Date(Date.now() + 3_600_000) })
  const [old] = await service.sql<{ id: string; trid: string }[]>`
    select id::text as id, transaction_base::text as trid from messages where account_id = ${owners.large} limit 1`

  recorder.clear()
  const began = performance.now()
  const waiting = await recorded.messages.why({ accountId, messageId, recipient: 'R0@harbor.example' })
  t.equal(waiting?.deliveries.length, 1)
  t.equal((await recorded.messages.why({ messageId }))?.deliveries.length, 3)
  t.equal((await recorded.messages.why({ messageId: held.messageId }))?.deliveries[0]?.waitingFor, 'batch-paused')
  t.ok(await recorded.messages.why({ accountId: owners.large, messageId: old?.id }))
  t.notOk(await recorded.messages.why({ accountId, messageId: old?.id }))
  await recorded.messages.why({ accountId: owners.large, transactionNumber: old?.trid })
  await recorded.messages.why({ transactionNumber: old?.trid })
  t.ok(isInTime(began, 4000))

  const read = recorder.statements().filter(({ text }) => /messages|delivery_queue|finished|attempts|events/.test(text))
  t.ok(read.length >= 12, `${read.length} statements`)
  const indexes = new Set<string>()
  for (const statement of read) {
    const plan = await planOf(inOrder, statement)
    t.same(wholeScans(plan), [], statement.text)
    for (const { node } of nodesOf(plan)) indexes.add(node['Index Name'] ?? '')
  }
  const used = ['delivery_queue_flow', 'delivery_queue_parked', 'delivery_queue_pkey', 'batch_messages_pkey']
  t.same(
    used.filter((name) => !indexes.has(name)),
    [],
  )
})
