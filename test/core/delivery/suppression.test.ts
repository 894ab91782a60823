import { type ClaimedDelivery, createCore, createLog, type Outcome, type Result } from '@postrider/core'
import t from 'tap'
import { moveClock } from '../../helpers/database.ts'
import { acceptMessage, envelopeTo } from '../submission.ts'
import { BOUNCED, DELIVERED, keyOf, makeQueue, recipients, type TestQueue } from './queue-of.ts'

const HOST = 'mx1.harbor.example'

function dotsOf(claimed: readonly ClaimedDelivery[], workerId: number) {
  return claimed.map((delivery) => ({ ...delivery, workerId, host: HOST, domainId: 1 }))
}

/** A message to these recipients in one worker's hands, in order. */
async function makeHand(queue: TestQueue, to: readonly string[]) {
  await queue.accept(to)
  const workerId = await queue.register()
  const claimed = (await queue.claimAll(workerId)).sort((a, b) => a.recipientNo - b.recipientNo)
  const resultsOf = (outcome: Outcome): Result[] => claimed.map((key) => ({ ...key, workerId, outcome }))
  return { workerId, claimed, resultsOf }
}

const stored = ({ service, sender }: TestQueue) => service.sql`
  select value, reason, since, held_until, xmin::text as transaction from suppressions
   where account_id = ${sender.accountId} order by value`

t.test('a recipient suppressed since the claim gets no leave for its final dot, and none is noted', async (t) => {
  const queue = await makeQueue(t)
  const { core, sender, service } = queue
  const { workerId, claimed } = await makeHand(queue, [
    'Lena@harbor.example',
    'mina@harbor.example',
    'nora@quay.example',
  ])
  await core.suppressions.addAll({
    accountId: sender.accountId,
    reason: 'unsubscribe',
    emails: ['lena@harbor.example'],
    domains: ['quay.example'],
  })
  const held = { reason: 'unsubscribe' }
  t.strictSame(await core.deliveries.recordEndOfData(dotsOf(claimed, workerId)), [held, true, held])
  const rows = await service.sql`select recipient_no, dot_host from delivery_queue where dot_at is not null`
  t.match([...rows], [{ recipient_no: 1, dot_host: HOST }])
  t.strictSame(
    await core.deliveries.recordEndOfData(dotsOf(claimed, workerId + 1)),
    [false, false, false],
    'without the lease nothing is said',
  )
})

t.test('a recipient who left an unsubscribe group gets no message of that group, and all others', async (t) => {
  const queue = await makeQueue(t)
  const { core, sender, service } = queue
  const { accountId } = sender
  await core.suppressions.addAll({ accountId, emails: ['gone@harbor.example'], group: 5, reason: 'unsubscribe' })
  const envelopes = ['gone@harbor.example', 'late@harbor.example', 'last@harbor.example'].map((to) => envelopeTo(to))
  const send = (settings: { group?: number }) => acceptMessage(service, sender, { envelopes, settings })
  for (const settings of [{}, { group: 6 }]) {
    const other = await core.messages.show((await send(settings)).messageId)
    t.ok(other?.deliveries.every(({ state }) => state === 'queued'))
  }
  await service.sql`delete from delivery_queue`

  const { messageId } = await send({ group: 5 })
  t.match((await core.messages.show(messageId))?.deliveries, [
    { state: 'dropped', reason: 'unsubscribe' },
    { state: 'queued' },
    { state: 'queued' },
  ])
  await core.suppressions.addAll({ accountId, emails: ['late@harbor.example'], group: 5 })
  const workerId = await queue.register()
  const claimed = (await queue.claimAll(workerId)).sort((a, b) => a.recipientNo - b.recipientNo)
  t.match(claimed, [{ suppression: 'manual' }, { suppression: null, groupId: 5 }])
  await core.suppressions.addAll({ accountId, emails: ['last@harbor.example'], group: 5 })
  t.strictSame(await core.deliveries.recordEndOfData(dotsOf(claimed.slice(1), workerId)), [{ reason: 'manual' }])
})

t.test('a hard bounce suppresses its address in the statement that records it', async (t) => {
  const queue = await makeQueue(t)
  const { core, sender, service } = queue
  const names = ['Gone@harbor.example', 'gone@quay.example', 'kept@quay.example']
  const { resultsOf } = await makeHand(queue, names)
  await core.suppressions.addAll({ accountId: sender.accountId, emails: ['gone@quay.example'] })
  const [first, second, third] = resultsOf(BOUNCED)
  if (!first || !second || !third) throw new Error('nothing was claimed')
  const taken = await core.deliveries.record([
    first,
    second,
    { ...third, outcome: DELIVERED },
    { ...third, attempt: 9 },
  ])
  t.strictSame(taken, [true, true, true, false])
  const rows = await stored(queue)
  t.match(
    [...rows],
    [
      { value: 'gone@harbor.example', reason: 'hardbounce', held_until: null },
      { value: 'gone@quay.example', reason: 'manual', held_until: null },
    ],
    'what was there stays',
  )
  t.equal(rows.length, 2)
  const finished = await service.sql`select distinct xmin::text as transaction from finished_deliveries`
  t.strictSame(
    [...finished].map(({ transaction }) => transaction),
    [rows[0]?.transaction],
  )
})

t.test('with a setting hard bounces end, starts again with the next one, and are tidied away', async (t) => {
  const queue = await makeQueue(t)
  const { service, sender } = queue
  const config = { ...service.config, hardBounceDays: 30 }
  const core = createCore({ sql: service.sql, config, log: createLog('test', 'silent') })
  t.teardown(() => core.readiness.close())
  const bounce = async () => {
    const { resultsOf } = await makeHand(queue, ['gone@harbor.example'])
    t.strictSame(await core.deliveries.record(resultsOf(BOUNCED)), [true])
  }
  await bounce()
  const [before] = await stored(queue)
  t.equal(before?.held_until - before?.since, 30 * 86_400_000)
  t.equal((await core.suppressions.holding(sender.accountId, 'gone@harbor.example')).length, 1)

  await moveClock(service.sql, '31 days')
  t.equal((await core.suppressions.holding(sender.accountId, 'gone@harbor.example')).length, 0)
  await bounce()
  const [again] = await stored(queue)
  t.ok(again?.since > before?.held_until, 'a new one')
  t.equal(await core.suppressions.forgetEnded(), 0, 'which has not ended')

  await core.suppressions.addAll({ accountId: sender.accountId, emails: ['kept@harbor.example'] })
  await moveClock(service.sql, '62 days')
  const counts = await Promise.all(Array.from({ length: 5 }, () => core.suppressions.forgetEnded()))
  t.equal(
    counts.reduce((sum, count) => sum + count, 0),
    1,
    'once, however many processes clean up',
  )
  t.match([...(await stored(queue))], [{ value: 'kept@harbor.example' }])
})

t.test('one address that bounces in many batches at once is one suppression', async (t) => {
  const queue = await makeQueue(t)
  const names = recipients(20)
  for (let at = 0; at < 6; at++) await queue.accept(at % 2 ? names : names.toReversed())
  const workerId = await queue.register()
  const claimed = await queue.claimAll(workerId)
  const batches = Map.groupBy(claimed, ({ messageId }) => messageId)
  const taken = await Promise.all(
    [...batches.values()].map((batch) =>
      queue.core.deliveries.record(batch.map((key) => ({ ...key, workerId, outcome: BOUNCED }))),
    ),
  )
  t.equal(taken.flat().filter(Boolean).length, claimed.length, `all of ${new Set(claimed.map(keyOf)).size}`)
  t.equal((await stored(queue)).length, 20)
})
