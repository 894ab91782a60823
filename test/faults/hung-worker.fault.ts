import t from 'tap'
import { moveClock } from '../helpers/database.ts'
import { keep } from '../helpers/keeper.ts'
import { figures, Ledger } from '../helpers/ledger.ts'
import { isInTime } from '../helpers/pace.ts'
import { makeService } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'

t.test(
  "a hung worker's deliveries are taken over within 65 s, and what it says when it wakes up is refused",
  { timeout: 240_000 },
  async (t) => {
    const sink = await startSink(t, {
      dot: async () => {
        await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 400))
        return undefined
      },
    })
    const service = await makeService(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
    const ledger = new Ledger(service, await service.makeSender())
    const api = await keep(t, 'api', service.env)
    const relay = await keep(t, 'relay', service.env)
    const hung = await keep(t, 'delivery', service.env)
    const load = ledger.load(8)
    await until('load', () => ledger.acknowledged.size > 200)
    const pid = hung.current?.pid as number
    hung.kill('SIGSTOP')
    const stopped = performance.now()
    const [worker] = await service.sql<{ id: number }[]>`select id from workers where pid = ${pid}`
    const held = async () =>
      (await service.sql`select 1 from delivery_queue where worker_id = ${worker?.id as number} limit 1`).length
    t.ok((await held()) > 0, 'it hangs with deliveries in hand')
    const other = await keep(t, 'delivery', service.env)
    await load.stop()
    await until('takeover', async () => (await held()) === 0, 80_000)
    const seconds = ((performance.now() - stopped) / 1000).toFixed(1)
    t.ok(isInTime(stopped, 65_000), `taken over after ${seconds} s`)

    hung.kill('SIGCONT')
    await until('the hung worker to notice and start over', () => hung.starts > 1, 20_000)
    await moveClock(service.sql, '10 minutes')
    await until(
      'an empty queue',
      async () => (await service.sql`select 1 from delivery_queue limit 1`).length === 0,
      60_000,
    )
    const evaluated = await ledger.evaluate(sink)
    t.comment(`figures: hung for ${seconds} s, ${figures(evaluated)}`)
    t.strictSame(evaluated.lost, [])
    t.strictSame(evaluated.contradicted, [], 'nothing refused is stored')
    t.strictSame(evaluated.unmarked, [])
    t.strictSame(evaluated.unfinished, [])
    for (const keeper of [api, relay, hung, other]) await keeper.stop()
  },
)
