import t from 'tap'
import { commandLine, descendantsOf, killGroup } from '../cli/postrider.ts'
import { figures } from '../helpers/ledger.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { openMachine } from './installation.ts'

/** More with `npm run test:faults`. */
const KILLS = process.env.FAULT_SECONDS ? 16 : 3

t.test(
  'kill -9 of everything that npm start started, under load: it starts again each time, and loses nothing',
  { timeout: (KILLS * 90 + 300) * 1000 },
  async (t) => {
    const sink = await startSink(t, {
      dot: async () => {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 60))
        return undefined
      },
    })
    const machine = await openMachine(t, sink)
    const { ledger } = machine
    const load = ledger.load(6)
    const starts: number[] = []
    for (let kill = 1; kill <= KILLS; kill++) {
      const before = ledger.acknowledged.size
      await until('load', () => ledger.acknowledged.size > before + 50, 60_000)
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 1000))
      const { pid } = machine.running
      const postmaster = descendantsOf(pid).find((one) => commandLine(one).includes('bin/postgres -D'))
      // Every third time the database dies with the rest; otherwise the kernel asks it to stop, and it is still at it when we start again.
      if (kill % 3 === 0) process.kill(postmaster as number, 'SIGKILL')
      await killGroup(machine.running)
      starts.push(Math.round(await machine.start()))
    }
    await load.stop()
    const evaluated = await machine.evaluate()
    t.comment(
      `figures: ${KILLS} kills of everything, started again in ${starts.join(', ')} ms, ${figures(evaluated)}, ${evaluated.unmarked.length} of them not marked`,
    )
    t.ok(evaluated.acknowledged > KILLS * 50, 'there was load')
    t.strictSame(evaluated.lost, [], 'nothing acknowledged is lost')
    t.strictSame(evaluated.contradicted, [], 'nothing refused is stored')
    t.strictSame(evaluated.unexpected, [], 'nothing was delivered that nobody sent')
    t.strictSame(evaluated.unfinished, [], 'every delivery has a final state')
    t.strictSame(evaluated.unrecorded, [], 'and an event that says so')
    t.equal(await machine.running.end('SIGTERM'), 0)
  },
)
