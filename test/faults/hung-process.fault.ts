import t from 'tap'
import { commandLine, descendantsOf, isAlive } from '../cli/postrider.ts'
import { figures } from '../helpers/ledger.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { openMachine } from './installation.ts'

t.test(
  'a process of npm start that hangs is replaced within 65 s, and nothing is lost',
  { timeout: 600_000 },
  async (t) => {
    const sink = await startSink(t)
    const machine = await openMachine(t, sink)
    const { ledger, running } = machine
    const load = ledger.load(4)
    await until('load', () => ledger.acknowledged.size > 100, 60_000)
    const pidOf = (what: string): number | undefined =>
      descendantsOf(running.pid).find((pid) => commandLine(pid).includes(what) && isAlive(pid))
    const files = ['packages/delivery/src/worker.ts', 'packages/api/src/server.ts', 'packages/relay/src/server.ts']
    const hung = files.map((file) => pidOf(file) as number)
    for (const pid of hung) process.kill(pid, 'SIGSTOP')
    const from = performance.now()
    const seconds = await Promise.all(
      files.map(async (file, at) => {
        await until(`another ${file}`, () => ![undefined, hung[at]].includes(pidOf(file)), 90_000)
        return (performance.now() - from) / 1000
      }),
    )
    const before = ledger.acknowledged.size
    await until('mail to be taken again', () => ledger.acknowledged.size > before + 50, 60_000)
    await load.stop()
    const evaluated = await machine.evaluate()
    t.comment(`figures: replaced after ${seconds.map((one) => one.toFixed(1)).join(', ')} s, ${figures(evaluated)}`)
    for (const one of seconds) t.ok(one <= 65, `replaced after ${one.toFixed(1)} s`)
    t.match(running.stdout, /^api hangs \(no heartbeat for 30 s\); stopping it$/m)
    t.strictSame(evaluated.lost, [])
    t.strictSame(evaluated.contradicted, [], 'nothing refused is stored')
    t.strictSame(evaluated.unmarked, [])
    t.strictSame(evaluated.unfinished, [])
    t.equal(await running.end('SIGTERM'), 0)
  },
)
