import t from 'tap'
import { moveClock } from '../helpers/database.ts'
import { answer, onBatches, type Receiver, startReceiver } from '../helpers/receiver.ts'
import type { Sender, TestService } from '../helpers/service.ts'
import { until } from '../helpers/until.ts'
import { addEvents, addWebhook, idsIn, startTelling, untilPassed } from './webhook-worker.ts'

/** New partitions can deadlock with the statement that notes a result; then the batch waits for the end of its lease, 20 seconds. */
const PAST_LEASES = 40_000

/** Waits until the results of all requests so far are noted: they tell when the next one is due, by the clock of that moment. */
async function untilNoted(
  { core }: TestService,
  { accountId }: Sender,
  id: number,
  { batches }: Receiver,
): Promise<void> {
  await until('the results to be noted', async () => {
    return (await core.webhooks.deliveries(accountId, id, { limit: 200 })).length === batches().length
  })
}

t.test('while a receiver is down single requests try it, and afterwards all of the backlog goes out', async (t) => {
  const service = await startTelling(t)
  const sender = await service.makeSender()
  const receiver = await startReceiver(t, onBatches(answer(503)))
  const { id } = await addWebhook(service, sender, receiver.url)
  await addEvents(service, sender, 400)
  await until('it is known to be down', () => receiver.batches().length >= 1)
  await addEvents(service, sender, 3000)
  await untilPassed(t, service)
  t.ok(receiver.batches().length <= 6, `${receiver.batches().length} requests`)
  for (const minutes of [1, 2]) {
    await untilNoted(service, sender, id, receiver)
    const before = receiver.batches().length
    await moveClock(service.sql, `${minutes} minutes`)
    await until('it is tried', () => receiver.batches().length > before)
    await untilPassed(t, service)
    t.ok(receiver.batches().length <= before + 2, 'one at a time')
  }
  await untilNoted(service, sender, id, receiver)
  const failed = receiver.batches().length
  receiver.react = answer(200)
  await moveClock(service.sql, '10 minutes')
  await until('all', () => new Set(idsIn(receiver.batches().slice(failed))).size === 3400, 30_000)
  t.equal(idsIn(receiver.batches().slice(failed)).length, 3400, 'each once')
})

t.test('a receiver that says 429 is left alone as long as it asks for', async (t) => {
  const service = await startTelling(t)
  const sender = await service.makeSender()
  const receiver = await startReceiver(t, onBatches(answer(429, { 'retry-after': '1800' })))
  const { id } = await addWebhook(service, sender, receiver.url)
  await addEvents(service, sender, 1)
  await until('it said so', () => receiver.batches().length === 1)
  await untilNoted(service, sender, id, receiver)
  await moveClock(service.sql, '29 minutes')
  await addEvents(service, sender, 1)
  await untilPassed(t, service)
  t.equal(receiver.batches().length, 1)
  receiver.react = answer(200)
  await moveClock(service.sql, '31 minutes')
  await until('both', () => idsIn(receiver.batches().slice(1)).length === 2)
})

t.test('410 disables a webhook at once, with an entry in the audit log, and enabling it goes on', async (t) => {
  const service = await startTelling(t)
  const sender = await service.makeSender()
  const receiver = await startReceiver(t, onBatches(answer(410)))
  const { id } = await addWebhook(service, sender, receiver.url)
  await addEvents(service, sender, 1)
  const disabled = await until('it is disabled', async () => {
    const webhook = await service.core.webhooks.show(sender.accountId, id)
    return !webhook.enabled && webhook
  })
  t.match(disabled, { problem: 'received status 410 Gone', disabledAt: Date })
  const [entry] = (await service.core.audit.list(sender.accountId, { after: 0, limit: 100 })).slice(-1)
  t.match(entry, { action: 'webhook.disable', keyId: null, after: { reason: 'received status 410 Gone' } })
  await addEvents(service, sender, 2)
  await moveClock(service.sql, '1 hour')
  await untilPassed(t, service)
  t.equal(receiver.batches().length, 1, 'nothing goes there')
  receiver.react = answer(200)
  await service.core.webhooks.update({ accountId: sender.accountId, id }, { enabled: true })
  await until('all three', () => idsIn(receiver.batches().slice(1)).length === 3)
})

t.test(
  'a receiver that never answers is tried for more than 75 hours, then the webhook is disabled and nothing is lost',
  async (t) => {
    const service = await startTelling(t)
    const sender = await service.makeSender()
    const receiver = await startReceiver(t, onBatches(answer(500)))
    const { id } = await addWebhook(service, sender, receiver.url)
    await addEvents(service, sender, 1)
    const show = () => service.core.webhooks.show(sender.accountId, id)
    await until('it fails', async () => (await show()).failingSince !== null)
    for (const hours of [30, 60, 77]) {
      const before = receiver.batches().length
      await moveClock(service.sql, `${hours} hours`)
      await until(`a try after ${hours} hours`, () => receiver.batches().length > before)
      await untilNoted(service, sender, id, receiver)
      t.equal((await show()).enabled, true)
    }
    // The last one was just noted, and is followed by another within two and a half hours.
    await moveClock(service.sql, '81 hours')
    const webhook = await until('it is disabled', async () => !(await show()).enabled && (await show()))
    t.match(webhook.problem, /^no success in 8\d hours: received status 500$/)
    receiver.react = answer(200)
    const failed = receiver.batches().length
    await service.core.webhooks.update({ accountId: sender.accountId, id }, { enabled: true })
    await until('the event', () => idsIn(receiver.batches().slice(failed)).length === 1)
  },
)

t.test('when the events it failed with are no longer kept, a receiver gets the next ones', async (t) => {
  const service = await startTelling(t)
  const sender = await service.makeSender()
  const receiver = await startReceiver(t, onBatches(answer(503)))
  const { id } = await addWebhook(service, sender, receiver.url)
  await addEvents(service, sender, 1)
  await until('it fails', async () => (await service.core.webhooks.show(sender.accountId, id)).failingSince !== null)
  // As retention leaves an account's last page, whose week is long over.
  await service.sql`delete from events where account_id = ${sender.accountId}`
  await service.sql`update event_pages set week = week - interval '28 days' where account_id = ${sender.accountId}`
  receiver.react = answer(200)
  const failed = receiver.batches().length
  await moveClock(service.sql, '3 hours')
  await until('nothing waits', async () => (await service.sql`select from webhook_batches`).length === 0)
  await untilPassed(t, service)
  await addEvents(service, sender, 1)
  await until('the next one', () => receiver.batches().length > failed)
})

t.test(
  'a batch that fails while others go through waits apart, and ends as one to be sent again by hand',
  async (t) => {
    const service = await startTelling(t)
    const sender = await service.makeSender()
    const poison = (body: string) => body.includes('poison')
    const receiver = await startReceiver(
      t,
      onBatches(({ body }, response) => response.writeHead(poison(body) ? 500 : 200).end()),
    )
    const { id } = await addWebhook(service, sender, receiver.url)
    const poisoned = () => receiver.batches().filter(({ body }) => poison(body)).length
    // Some come twice: one that was just leased when the clock leapt.
    const passed = () => new Set(idsIn(receiver.batches().filter(({ body }) => !poison(body)))).size
    await addEvents(service, sender, 1, { tags: ['poison'] })
    await until('it fails', () => poisoned() === 1)
    await addEvents(service, sender, 300)
    let minutes = 0
    // A clock that leaps ends leases, and then the result of a request that is under way would not count.
    const goOn = async () => {
      const leased = await service.sql`select 1 from webhook_batches where leased_until > service_now()`
      if (leased.length === 0) await moveClock(service.sql, `${++minutes} minutes`)
    }
    await until(
      'the others',
      async () => {
        await goOn()
        return passed() === 300
      },
      PAST_LEASES,
    )
    t.ok(minutes < 200, `${minutes} minutes of the service's time`)
    const apart = () => service.sql`select 1 from webhook_batches where aside`
    await until(
      'it is set apart',
      async () => {
        await goOn()
        return (await apart()).length === 1
      },
      PAST_LEASES,
    )
    t.equal((await service.core.webhooks.show(sender.accountId, id)).failingSince, null)
    await addEvents(service, sender, 100)
    await until('later ones', () => passed() === 400)
    // All the time that it has, from whenever it failed first.
    minutes = 4700
    const page = { limit: 10, offset: 0 }
    const { batches } = await until(
      'it is given up',
      async () => {
        await goOn()
        const dead = await service.core.webhooks.dead(sender.accountId, id, page)
        return dead.total === 1 && dead
      },
      PAST_LEASES,
    )
    t.match(batches, [{ problem: 'received status 500' }])
    const before = poisoned()
    t.equal(await service.core.webhooks.redeliver({ accountId: sender.accountId, id }, batches[0]?.id), 1)
    await until('it goes out again', () => poisoned() === before + 1)
    const sent = receiver.batches().filter(({ body }) => poison(body))
    t.equal(new Set(sent.map(({ headers }) => headers['webhook-id'])).size, 1, 'under the same id')
  },
)
