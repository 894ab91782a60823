import t from 'tap'
import { moveClock, stopClock } from '../helpers/database.ts'
import { numberEvents } from '../helpers/number-events.ts'
import { answer, onBatches, startReceiver } from '../helpers/receiver.ts'
import { makeService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'
import { addEvents, addWebhook, idsIn, LOOPBACK, runLoops, startTelling, untilPassed } from './webhook-worker.ts'

t.test('events go out in batches of a hundred at most, each once, in the order of their numbers', async (t) => {
  const service = await startTelling(t)
  const sender = await service.makeSender()
  await addEvents(service, sender, 3)
  await until('they have numbers', async () => (await service.core.events.lastNumber(sender.accountId)) >= 3)
  const receiver = await startReceiver(t)
  await addWebhook(service, sender, receiver.url)
  await addEvents(service, sender, 250)
  await until('all', () => idsIn(receiver.batches()).length >= 250)
  const ids = idsIn(receiver.batches())
  t.equal(new Set(ids).size, 250, 'each once, and none from before the webhook was there')
  for (const { body } of receiver.batches()) t.ok((JSON.parse(body) as unknown[]).length <= 100)
  t.equal(new Set(receiver.batches().map(({ headers }) => headers['webhook-id'])).size, receiver.batches().length)
  await until('nothing left', async () => (await service.sql`select 1 from webhook_batches`).length === 0)
})

t.test('only the events that were requested go out, and of one account only', async (t) => {
  const service = await startTelling(t)
  const [sender, other] = [await service.makeSender(), await service.makeSender()]
  const receiver = await startReceiver(t)
  await addWebhook(service, sender, receiver.url, { events: ['bounced'] })
  await addEvents(service, sender, 150)
  await addEvents(service, other, 5, { type: 'bounced' })
  await addEvents(service, sender, 1, { type: 'bounced', detail: { class: 'bad-mailbox' } })
  await until('the bounce', () => receiver.batches().length >= 1)
  t.match(JSON.parse(receiver.batches()[0]?.body ?? ''), [{ EVENT: 'bounced', BOUNCE_TYPE: 'HARDBOUNCE' }])
  t.equal(idsIn(receiver.batches()).length, 1)
})

t.test('events of a deleted account are not sent', async (t) => {
  const service = await startTelling(t)
  const [sender, other] = [await service.makeSender(), await service.makeSender()]
  const receiver = await startReceiver(t)
  await addWebhook(service, sender, receiver.url)
  await addWebhook(service, other, receiver.url)
  await service.sql`update accounts set state = 'deleted', deleted_at = service_now() where id = ${sender.accountId}`
  await addEvents(service, sender, 1, { tags: ['gone'] })
  await addEvents(service, other, 1)
  await until('the other', () => receiver.batches().length >= 1)
  await untilPassed(t, service)
  t.notOk(receiver.batches().some(({ body }) => body.includes('gone')))
})

t.test('what a receiver refuses it gets again as it was, under the same id, until it takes it', async (t) => {
  const service = await startTelling(t)
  // Else it would be tried again, and refused again, after five seconds.
  await stopClock(service.sql)
  const sender = await service.makeSender()
  const receiver = await startReceiver(t, onBatches(answer(500)))
  const { id } = await addWebhook(service, sender, receiver.url)
  await addEvents(service, sender, 2)
  await until('a refusal', () => receiver.batches().length === 1)
  await until('noted', async () => (await service.core.webhooks.show(sender.accountId, id)).failingSince !== null)
  t.equal((await service.core.webhooks.show(sender.accountId, id)).problem, 'received status 500')
  receiver.react = answer(200)
  await moveClock(service.sql, '1 minute')
  const [first, second] = await until('the retry', () => receiver.batches().length >= 2 && receiver.batches())
  t.equal(second?.body, first?.body)
  t.equal(second?.headers['webhook-id'], first?.headers['webhook-id'])
  await until('it works again', async () => {
    return (await service.core.webhooks.show(sender.accountId, id)).failingSince === null
  })
  t.match(await service.core.webhooks.deliveries(sender.accountId, id, { limit: 10 }), [
    { status: 200, attempt: 2, problem: null },
    { status: 500, attempt: 1, problem: 'received status 500' },
  ])
})

t.test('replay sends again what came from a number on, and no other', async (t) => {
  const service = await startTelling(t)
  const sender = await service.makeSender()
  const receiver = await startReceiver(t)
  const { id } = await addWebhook(service, sender, receiver.url)
  // Its domain became active, which is an event too.
  await numberEvents(service)
  const before = await service.core.events.lastNumber(sender.accountId)
  await addEvents(service, sender, 120)
  await until('all', () => idsIn(receiver.batches()).length === 120)
  const all = idsIn([...receiver.batches()].sort((a, b) => lowest(a.body) - lowest(b.body)))
  const sent = receiver.batches().length
  await service.core.webhooks.replay({ accountId: sender.accountId, id }, before + 51)
  await until('seventy again', () => idsIn(receiver.batches().slice(sent)).length === 70)
  t.strictSame(idsIn(receiver.batches().slice(sent)), all.slice(50))
  const replay = (from: number) => service.core.webhooks.replay({ accountId: sender.accountId, id }, from)
  await t.rejects(replay(before + 122), /last 30 days/, 'there is none yet')
  await moveClock(service.sql, '31 days')
  await t.rejects(replay(before + 51), /last 30 days/, 'too old')
})

function lowest(body: string): number {
  return Math.min(...(JSON.parse(body) as { TRANSID: number }[]).map(({ TRANSID }) => TRANSID))
}

t.test('ten at it at once tell every event once', async (t) => {
  const service = await makeService(t, LOOPBACK)
  const sender = await service.makeSender()
  const receiver = await startReceiver(t)
  await addWebhook(service, sender, receiver.url)
  for (let worker = 0; worker < 10; worker++) runLoops(t, service)
  for (let round = 0; round < 10; round++) await addEvents(service, sender, 130)
  await until('all', () => new Set(idsIn(receiver.batches())).size === 1300, 30_000)
  t.equal(idsIn(receiver.batches()).length, 1300)
})

t.test('a batch whose worker is gone is taken by another when the lease is over', async (t) => {
  const service = await makeService(t, LOOPBACK)
  const sender = await service.makeSender()
  const receiver = await startReceiver(t)
  await addWebhook(service, sender, receiver.url)
  await addEvents(service, sender, 5)
  await numberEvents(service)
  await service.core.webhooks.notice()
  const [lost] = (await until('a batch', () => service.core.webhooks.claim(10))) ?? []
  t.ok(lost)
  runLoops(t, service)
  await untilPassed(t, service)
  t.equal(receiver.batches().length, 0, 'it is in the hands of somebody who may live')
  await moveClock(service.sql, '21 seconds')
  await until('it is told', () => idsIn(receiver.batches()).length === 5)
  await until('it is done', async () => (await service.sql`select 1 from webhook_batches`).length === 0)
  if (lost) t.equal(await service.core.webhooks.deliver(lost, new AbortController().signal), 'late')
})

t.test('stopping ends what is under way, and a removed webhook leaves nothing behind', async (t) => {
  const service = await makeService(t, LOOPBACK)
  const sender = await service.makeSender()
  const answers: (() => void)[] = []
  const receiver = await startReceiver(
    t,
    onBatches((_request, response) => void answers.push(() => response.end())),
  )
  const { id } = await addWebhook(service, sender, receiver.url)
  const loops = runLoops(t, service)
  await addEvents(service, sender, 5)
  await until('it is under way', () => receiver.batches().length === 1)
  const stopping = loops.stop()
  for (const answer of answers) answer()
  await stopping
  t.equal((await service.sql`select 1 from webhook_batches`).length, 0, 'it was ended and noted')
  await service.core.webhooks.remove({ accountId: sender.accountId, id })
  t.equal((await service.sql`select 1 from webhook_deliveries`).length, 0)
})

t.test('v2 reports what humans opened, since it cannot express what machines did', async (t) => {
  const service = await startTelling(t)
  const sender = await service.makeSender()
  const receiver = await startReceiver(t)
  await addWebhook(service, sender, receiver.url)
  await addEvents(service, sender, 3, { type: 'opened', detail: { machine: 'soon', rules: 1 } })
  await numberEvents(service)
  await addEvents(service, sender, 2, { type: 'opened', detail: { first: true, rules: 1 } })
  await until('the people', () => idsIn(receiver.batches()).length >= 2)
  t.equal(idsIn(receiver.batches()).length, 2)
  t.strictSame(
    receiver.requests.filter(({ method, body }) => method === 'POST' && body === '[]'),
    [],
    'nor is an empty batch sent',
  )
})
