import { spawn } from 'node:child_process'
import t from 'tap'
import { acceptMessage, envelopeTo } from '../core/submission.ts'
import { moveClock } from '../helpers/database.ts'
import { keep } from '../helpers/keeper.ts'
import type { ServiceProcess } from '../helpers/processes.ts'
import { makeService } from '../helpers/service.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'

/** Of each number of workers. `npm run test:faults` has as many as its seconds allow; the figures of promises.md are of 50. */
const KILLS = Number(process.env.KILLS ?? Math.max(3, Math.round(Number(process.env.FAULT_SECONDS ?? 12) / 12)))
const RECIPIENTS = 500
/** Waiting deliveries, so that workers always have as much to do as they can. */
const BACKLOG = 10_000

/** The server answers at once: what is repeated is what the worker had not recorded, not what the server had not yet answered. */
for (const workers of [1, 2]) {
  t.test(
    `of what ${workers} ${workers === 1 ? 'worker delivers' : 'workers deliver'} when one is killed, every copy is marked and few are made`,
    { timeout: (KILLS * 30 + 240) * 1000 },
    async (t) => {
      const copies = new Map<string, number>()
      /** When the first copy had come and was answered, and when workers were killed, in milliseconds. */
      const answered = new Map<string, number>()
      const kills: number[] = []
      const processes = new Set<ServiceProcess>()
      let arrived = 0
      const sink = await startSink(t, {
        keep: () => false,
        dot: ({ message }) => {
          for (const to of message.to) {
            copies.set(to, (copies.get(to) ?? 0) + 1)
            if (!answered.has(to)) answered.set(to, Date.now())
          }
          arrived++
          return undefined
        },
      })
      const service = await makeService(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
      const sender = await service.makeSender()
      let accepted = 0
      const fill = async (): Promise<void> => {
        while (accepted - copies.size < BACKLOG) {
          const envelopes = Array.from({ length: RECIPIENTS }, () => envelopeTo(`r${accepted++}@harbor.example`))
          await acceptMessage(service, sender, { envelopes })
        }
      }
      await fill()
      const kept = await Promise.all(Array.from({ length: workers }, () => keep(t, 'delivery', service.env)))
      const extra = () => [...copies.values()].reduce((sum, count) => sum + count - 1, 0)
      const waits: number[] = []
      const rates: number[] = []
      for (let kill = 0; kill < KILLS; kill++) {
        await fill()
        const before = arrived
        const began = performance.now()
        const most = 1000 + Math.random() * 1000
        await until('a second of deliveries', () => arrived > before + 200 && performance.now() - began > most, 60_000)
        rates.push((arrived - before) / ((performance.now() - began) / 1000))
        for (const { current } of kept) if (current) processes.add(current)
        const worker = kept[kill % workers]
        const gone = worker?.current?.exited
        // By another process: this one kills at moments when it has just answered several messages.
        const after = (Math.random() / 4).toFixed(3)
        const killing = spawn('sh', ['-c', `sleep ${after}; date +%s%3N; kill -9 ${worker?.current?.pid}`])
        killing.stdout.on('data', (time: Buffer) => void kills.push(Number(time)))
        await gone
        const at = performance.now()
        const then = arrived
        await until('the next delivery', () => arrived > then, 60_000)
        waits.push(performance.now() - at)
        if (workers > 1) await until('another worker', () => worker?.current !== undefined, 60_000)
      }
      await moveClock(service.sql, '10 minutes')
      await until(
        'all to be delivered',
        async () => (await service.sql`select from delivery_queue limit 1`).length === 0,
        240_000,
      )
      const marked = await service.sql<{ recipient: string; count: number }[]>`
        select f.recipient, count(*)::int as count from attempts a join finished_deliveries f using (message_id, recipient_no)
         where a.indeterminate group by 1`
      const marks = new Map(marked.map(({ recipient, count }) => [recipient, count]))
      const unmarked = [...copies].filter(([to, count]) => count - 1 > (marks.get(to) ?? 0))
      for (const { current } of kept) if (current) processes.add(current)
      const noted = [...processes]
        .flatMap(({ log }) => log.filter(({ msg }) => msg === 'recorded answers that a dead worker had noted'))
        .reduce((sum, { count }) => sum + Number(count), 0)
      const twice = [...copies].filter(([, count]) => count > 1).map(([to]) => answered.get(to) ?? 0)
      const before = twice.filter((at) => !kills.some((kill) => at > kill && at < kill + 1000)).length
      t.comment(
        `figures: ${KILLS} kills of ${workers} at ${middle(rates).toFixed(0)} deliveries per second: ${(extra() / KILLS).toFixed(2)} copies per kill, ` +
          `${(before / KILLS).toFixed(2)} of what was answered before; ${(noted / KILLS).toFixed(2)} were not sent again, as their answers were noted; ` +
          `to the next delivery ${middle(waits).toFixed(0)} ms, at most ${Math.max(...waits).toFixed(0)}; ${marks.size} marked`,
      )
      t.strictSame(unmarked, [], 'each copy is marked')
      t.equal(copies.size, accepted, 'nothing is lost')
      for (const one of kept) await one.stop()
    },
  )
}

function middle(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}
