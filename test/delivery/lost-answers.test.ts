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

    const hasLostClaim = (): boolean =>
      worker.log.some(
        ({ msg }) => msg === 'claim failed' || msg === 'releasing deliveries whose claim response was lost',
      )
    let accepted = 0
    // On a busy machine a round may end before the database has said anything: then there are more of them.
    const isEnough = (): boolean => proxy.lost() > 10 && hasLostClaim()
    for (let round = 0; round < 25 || (round < 250 && !isEnough()); round++) {
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
    t.ok(hasLostClaim(), 'some of them to claims')
  },
)

t.test('a claim that a crash of the database has lost is made again, and the message is sent once', async (t) => {
  const gate = Promise.withResolvers<undefined>()
  const asked: string[] = []
  const rcpt = ({ command }: { readonly command: string }): Promise<undefined> => {
    asked.push(command)
    return gate.promise
  }
  const sink = await startSink(t, { rcpt })
  const service = await makeService(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
  const sender = await service.makeSender()
  await startProcess(t, 'delivery', service.env)
  await acceptMessage(service, sender, { envelopes: [envelopeTo('lena@harbor.example')] })
  await until('the recipient to be offered', () => asked.length === 1)
  // The commit of a claim does not wait for the disk.
  await service.sql`update delivery_queue set worker_id = null, attempt = 0, state = 'queued'`
  await until('another claim', async () => {
    const claimed = await service.sql`select from delivery_queue where worker_id is not null and attempt = 1`
    return claimed.length === 1
  })
  gate.resolve(undefined)
  await until('an empty queue', async () => (await service.sql`select from delivery_queue`).length === 0)
  t.equal(asked.length, 1)
  t.equal(sink.messages.length, 1)
  t.match(await service.sql`select outcome, attempt from attempts`, [{ outcome: 'delivered', attempt: 1 }])
})
