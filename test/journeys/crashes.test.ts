import t from 'tap'
import { moveClock } from '../helpers/database.ts'
import { keep } from '../helpers/keeper.ts'
import { figures, Ledger } from '../helpers/ledger.ts'
import { makeService } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'

/** Longer with `npm run test:faults`. */
const SECONDS = Number(process.env.FAULT_SECONDS ?? 12)

t.test(
  'kill -9 of any process at random moments under load loses nothing, and every extra copy is marked indeterminate',
  { timeout: (SECONDS + 150) * 1000 },
  async (t) => {
    // A slow server, so that many final dots are in flight when a worker is killed.
    const sink = await startSink(t, {
      dot: async () => {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 60))
        return undefined
      },
    })
    const service = await makeService(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
    const ledger = new Ledger(service, await service.makeSender())
    const kept = [
      await keep(t, 'api', service.env),
      await keep(t, 'relay', service.env),
      await keep(t, 'delivery', service.env),
      await keep(t, 'delivery', service.env),
    ]

    const load = ledger.load(8)
    const end = Date.now() + SECONDS * 1000
    // A slow machine needs longer to start what was killed.
    const isEnough = () => ledger.acknowledged.size > 100 || Date.now() > end + 60_000
    let kills = 0
    while (Date.now() < end || !isEnough()) {
      await new Promise((resolve) => setTimeout(resolve, 300 + Math.random() * 900))
      kept[Math.floor(Math.random() * kept.length)]?.kill()
      kills++
    }
    await load.stop()
    // Once more a worker, at a moment that is surely full of final dots.
    kept[2]?.kill()

    const waiting = async () => (await service.sql`select 1 from delivery_queue limit 1`).length
    await until(
      'takeover from the killed workers',
      async () => {
        const held =
          await service.sql`select 1 from delivery_queue q where worker_id is not null and state = 'sending' limit 1`
        return held.length === 0
      },
      40_000,
    )
    // What is indeterminate now waits five minutes.
    await moveClock(service.sql, '10 minutes')
    await until('an empty queue', async () => (await waiting()) === 0, 60_000)

    const evaluated = await ledger.evaluate(sink)
    t.comment(`figures: ${kills + 1} kills, ${figures(evaluated)}`)
    t.ok(evaluated.acknowledged > 100, 'there was load')
    t.strictSame(evaluated.lost, [], 'nothing acknowledged is lost')
    t.strictSame(evaluated.contradicted, [], 'nothing refused is stored')
    t.strictSame(evaluated.unexpected, [], 'nothing was delivered that nobody sent')
    t.strictSame(evaluated.unmarked, [], 'each extra copy is marked indeterminate')
    t.strictSame(evaluated.unfinished, [], 'every delivery has a final state')
    for (const keeper of kept) await keeper.stop()
  },
)
