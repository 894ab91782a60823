import t from 'tap'
import { startLossyProxy } from '../core/delivery/lossy-proxy.ts'
import { acceptMessage, envelopeTo } from '../core/submission.ts'
import { startProcess } from '../helpers/processes.ts'
import { makeService } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'

t.test(
  'a worker that loses answers of the database again and again delivers everything, and nothing twice',
  async (t) => {
    const sink = await startSink(t)
    const service = await makeService(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
    const sender = await service.makeSender()
    const proxy = await startLossyProxy(t, service.env.DATABASE_URL as string)
    const worker = await startProcess(t, 'delivery', { ...service.env, DATABASE_URL: proxy.url })

    let accepted = 0
    for (let round = 0; round < 25; round++) {
      const envelopes = Array.from({ length: 20 }, () => envelopeTo(`r${accepted++}@harbor.example`))
      await acceptMessage(service, sender, { envelopes })
      // Every other time a claim, since only that tells recipients; else a body, leave for a dot, the record of an outcome, ...
      proxy.loseNextAnswer(round % 2 === 0 ? '@harbor.example' : '')
      await new Promise((resolve) => setTimeout(resolve, 80))
    }
    const unfinished = async () => (await service.sql`select 1 from delivery_queue limit 1`).length > 0
    await until('an empty queue', async () => !(await unfinished()), 40_000)

    const copies = sink.messages.map(({ to }) => String(to))
    t.equal(new Set(copies).size, accepted)
    t.equal(copies.length, accepted, 'one copy each')
    const counted = await service.sql<{ state: string; count: number }[]>`
    select state, count(*)::int as count from finished_deliveries group by state`
    t.strictSame(
      counted.map((row) => ({ ...row })),
      [{ state: 'delivered', count: accepted }],
    )
    const lost = proxy.lost()
    t.ok(lost > 10, `${lost} answers were lost`)
    t.ok(
      worker.log.some(
        ({ msg }) => msg === 'claim failed' || msg === 'releasing deliveries whose claim response was lost',
      ),
      'some of them to claims',
    )
  },
)
