import t from 'tap'
import { addEvents, addWebhook, idsIn, LOOPBACK } from '../delivery/webhook-worker.ts'
import { moveClock } from '../helpers/database.ts'
import { startProcess } from '../helpers/processes.ts'
import { onBatches, startReceiver } from '../helpers/receiver.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { makeService } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'

t.test('a message that is sent is told to a webhook', async (t) => {
  const sink = await startSink(t)
  const service = await makeService(t, { ...LOOPBACK, DELIVERY: `smtp://127.0.0.1:${sink.port}` })
  const sender = await service.makeSender()
  const receiver = await startReceiver(t)
  await addWebhook(service, sender, receiver.url, { eventIds: false })
  await startProcess(t, 'delivery', service.env)
  await sendV2(await service.openApi(), sender.apiKey, v2Body(sender, {}))
  await until('it is told', () => receiver.batches().length === 1)
  t.match(JSON.parse(receiver.batches()[0]?.body ?? ''), [
    { EVENT: 'sent', RESPONSE: /^smtp;250 2\.\d\.\d [^2]/, MSIZE: Number },
  ])
})

t.test('kill -9 of workers loses no event, and what comes twice has the same id', async (t) => {
  const service = await makeService(t, LOOPBACK)
  const sender = await service.makeSender()
  const receiver = await startReceiver(
    t,
    onBatches((_request, response) => void setTimeout(() => response.end(), 100)),
  )
  await addWebhook(service, sender, receiver.url)
  const adding = (async () => {
    for (let round = 0; round < 30; round++) await addEvents(service, sender, 150)
  })()
  for (let killed = 1; killed <= 3; killed++) {
    const worker = await startProcess(t, 'delivery', service.env)
    const before = receiver.batches().length
    await until('some are told', () => receiver.batches().length >= before + 3)
    worker.kill('SIGKILL')
    await worker.exited
    await moveClock(service.sql, `${killed} minutes`)
  }
  await adding
  const last = await startProcess(t, 'delivery', service.env)
  await until('all', () => new Set(idsIn(receiver.batches())).size === 4500, 40_000)
  t.equal(await last.stop(), 0)
  const batches = new Map<string, string>()
  for (const { headers, body } of receiver.batches()) {
    const id = String(headers['webhook-id'])
    t.equal(batches.get(id) ?? body, body, 'the same batch under the same id')
    batches.set(id, body)
  }
  const once = [...batches.values()].map((body) => ({ body }))
  t.equal(idsIn(once).length, 4500, 'no event is in two batches')
  t.ok(receiver.batches().length - batches.size <= 12, 'no more came twice than was under way')
})
