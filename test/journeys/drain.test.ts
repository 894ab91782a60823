import t from 'tap'
import { isInTime } from '../helpers/pace.ts'
import { startProcess } from '../helpers/processes.ts'
import { sendV2, v2Body } from '../helpers/send.ts'
import { makeService } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'

t.test('at SIGTERM a worker finishes what is under way, gives back the rest, and no copy is sent twice', async (t) => {
  const sink = await startSink(t, {
    dot: async () => {
      await new Promise((resolve) => setTimeout(resolve, 1500))
      return undefined
    },
  })
  const service = await makeService(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}`, SITE_CONNECTIONS: '5' })
  const sender = await service.makeSender()
  const base = await service.openApi()
  const personalizations = Array.from({ length: 60 }, (_none, number) => ({ recipient: `r${number}@harbor.example` }))
  await sendV2(base, sender.apiKey, v2Body(sender, { personalizations }))

  const first = await startProcess(t, 'delivery', service.env)
  await until('conversations under way', () => sink.commands.filter((command) => command === 'DATA').length >= 10)
  const asked = performance.now()
  t.equal(await first.stop(), 0)
  t.ok(isInTime(asked, 30_000), 'it stops within 30 s')
  t.ok(sink.messages.length >= 10, 'what was under way was finished')
  const counts = await service.sql<
    { state: string; worker: number | null }[]
  >`select state, worker_id as worker from delivery_queue`
  t.ok(
    counts.length > 0 && counts.every(({ state, worker }) => state === 'queued' && worker === null),
    'the rest waits, untried',
  )

  await startProcess(t, 'delivery', service.env)
  await until('all 60', () => sink.messages.length >= 60, 60_000)
  await until('an empty queue', async () => (await service.sql`select 1 from delivery_queue limit 1`).length === 0)
  t.equal(sink.messages.length, 60)
  t.equal(new Set(sink.messages.map(({ to }) => to[0])).size, 60, 'each recipient got one copy')
})

t.test('at SIGTERM the API finishes calls under way, is not ready any longer, and leaves', async (t) => {
  const service = await makeService(t)
  const sender = await service.makeSender()
  const api = await startProcess(t, 'api', service.env)
  const base = `http://127.0.0.1:${service.config.apiPort}`
  let stopping = false
  const answers: (number | 'closed')[] = []
  const lanes = Array.from({ length: 10 }, async () => {
    while (!stopping)
      answers.push(
        await sendV2(base, sender.apiKey, v2Body(sender)).then(
          ({ status }) => status,
          () => 'closed' as const,
        ),
      )
  })
  await until('calls under way', () => answers.length > 50)
  const status = api.stop()
  t.equal(await status, 0)
  stopping = true
  await Promise.all(lanes)
  t.strictSame(new Set(answers.filter((answer) => answer !== 'closed' && answer !== 503)), new Set([200]))
  const accepted = answers.filter((answer) => answer === 200).length
  const [row] = await service.sql<{ count: number }[]>`select count(*)::int as count from messages`
  t.equal(row?.count, accepted, 'what was stored was acknowledged, and the other way round')
})
