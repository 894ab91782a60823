import t from 'tap'
import { moveClock } from '../helpers/database.ts'
import { startProcess } from '../helpers/processes.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { makeService } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'

t.test(
  'a message deferred twice is delivered at the third attempt, on schedule, with the same Message-ID',
  async (t) => {
    const sink = await startSink(t, {
      rcpt: ({ before }) => (before < 2 ? '451 4.7.1 greylisted' : undefined),
    })
    const service = await makeService(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
    const sender = await service.makeSender()
    await startProcess(t, 'api', service.env)
    await startProcess(t, 'delivery', service.env)
    const base = `http://127.0.0.1:${service.config.apiPort}`

    const sent = await sendV2(base, sender.apiKey, v2Body(sender))
    const id = sent.body.data?.message_id as string
    const attempts = async () => (await service.core.messages.show(id))?.deliveries[0]?.attempts.length ?? 0

    await until('the first attempt', async () => (await attempts()) === 1)
    const [first] = (await service.core.messages.show(id))?.deliveries ?? []
    t.equal(first?.state, 'deferred')
    const wait = ((first?.nextAt?.getTime() ?? 0) - Date.now()) / 1000
    t.ok(wait > 40 && wait < 75, `the second attempt is due in a minute, give or take a fifth: ${wait}`)
    t.equal(sink.messages.length, 0)

    await moveClock(service.sql, '2 minutes')
    await until('the second attempt', async () => (await attempts()) === 2)
    t.equal(sink.messages.length, 0)

    await moveClock(service.sql, '20 minutes')
    await until('delivery', () => sink.messages.length === 1)
    await until('the third attempt', async () => (await attempts()) === 3)

    const story = await service.core.messages.show(id)
    t.strictSame(
      story?.deliveries[0]?.attempts.map(({ outcome }) => outcome),
      ['deferred', 'deferred', 'delivered'],
    )
    t.strictSame(
      story?.events.map(({ type }) => type),
      ['processed', 'deferred', 'deferred', 'sent'],
    )
    t.match(sink.messages[0]?.data.toString(), new RegExp(`Message-ID: <${id}\\.0@${sender.domain}>`))
  },
)
