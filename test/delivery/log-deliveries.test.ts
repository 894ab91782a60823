import t from 'tap'
import { sendV2, v2Body } from '../helpers/send.ts'
import { makeService } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { openWorker } from '../helpers/worker.ts'

t.test('LOG_DELIVERIES=failures logs only what was not delivered', async (t) => {
  const sink = await startSink(t, { rcpt: ({ command }) => (command.includes('gone@') ? '550 5.1.1 gone' : undefined) })
  const service = await makeService(t, {
    DELIVERY: `smtp://127.0.0.1:${sink.port}`,
    LOG_LEVEL: 'info',
    LOG_DELIVERIES: 'failures',
  })
  const sender = await service.makeSender()
  const worker = await openWorker(t, service)
  const base = await service.openApi()
  await sendV2(base, sender.apiKey, v2Body(sender))
  await until('it was delivered', () => sink.messages.length === 1)
  await sendV2(base, sender.apiKey, v2Body(sender, { personalizations: [{ recipient: 'gone@harbor.example' }] }))
  await until('the bounce was logged', () => worker.log.some(({ msg }) => msg === 'bounced'))
  t.notOk(worker.log.some(({ msg }) => msg === 'delivered'))
})
