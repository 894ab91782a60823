import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { killGroup, startUp, upSettings } from '../cli/postrider.ts'
import { figures } from '../helpers/ledger.ts'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { openMachine } from './installation.ts'

const run = (program: string, ...args: string[]): boolean => spawnSync(program, args, { stdio: 'ignore' }).status === 0

const mounted = mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'disk-'))
const mayMount = process.getuid?.() === 0 && run('mount', '-t', 'tmpfs', '-o', 'size=400m', 'tmpfs', mounted)
const skip = !mayMount && 'only a root who may mount can have a small disk'
t.teardown(() => mayMount && run('umount', '-l', mounted))

const filler = join(mounted, 'filler')

/** Until not one octet more goes on it. */
function fillUp(): void {
  const descriptor = openSync(filler, 'a')
  for (let size = 1024 * 1024; size >= 1; ) {
    try {
      writeSync(descriptor, Buffer.alloc(size))
    } catch {
      size = Math.floor(size / 2)
    }
  }
  closeSync(descriptor)
}

const FULL = /^postrider: the disk of DATA_DIR \(.*\) is full; free space on it, then start again\n$/

t.test(
  'a start on a full disk says so and leaves nothing behind that stops the next one; nothing is lost',
  { skip, timeout: 600_000 },
  async (t) => {
    const data = join(mounted, 'data')
    mkdirSync(data)
    fillUp()
    const early = await startUp(t, { ...(await upSettings()), DATA_DIR: data })
    t.equal(await early.exited, 1)
    t.match(early.stderr, FULL)
    t.notOk(readdirSync(data).some((name) => name.startsWith('postgres.lock')))

    rmSync(filler)
    const sink = await startSink(t)
    const machine = await openMachine(t, sink, { DATA_DIR: data })
    const load = machine.ledger.load(4)
    await until('load', () => machine.ledger.acknowledged.size > 100, 60_000)
    await killGroup(machine.running)
    await load.stop()
    // The dying database still wants its last checkpoint.
    await until('the database to stop', () => !readdirSync(join(data, 'postgres')).includes('postmaster.pid'), 60_000)
    fillUp()
    for (let tries = 1; tries <= 2; tries++) {
      const full = await startUp(t, machine.env)
      t.equal(await full.exited, 1)
      t.match(full.stderr, FULL)
    }

    rmSync(filler)
    await machine.start()
    const evaluated = await machine.evaluate()
    t.comment(`figures: 3 starts on a full disk, ${figures(evaluated)}`)
    t.strictSame(evaluated.lost, [])
    t.strictSame(evaluated.contradicted, [], 'nothing refused is stored')
    t.strictSame(evaluated.unfinished, [])
    t.equal(await machine.running.end('SIGTERM'), 0)
  },
)
