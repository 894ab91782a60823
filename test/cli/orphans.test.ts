import { join } from 'node:path'
import t from 'tap'
import { noteChildren } from '../../packages/cli/src/supervision/orphans.ts'
import { until } from '../helpers/until.ts'
import { apiReady, beginUp, commandLine, descendantsOf, isAlive, startUp, upSettings } from './postrider.ts'

const skip = process.platform !== 'linux' && 'processes are looked up in /proc'

t.test(
  'after kill -9 of the supervisor the next start waits for its processes, which have the ports',
  { skip },
  async (t) => {
    const env = await upSettings()
    const first = await startUp(t, env)
    const processes = descendantsOf(first.pid).filter((pid) => commandLine(pid).includes('/server.ts'))
    t.ok(processes.length > 1)
    // They do not notice that it has gone, as one that still drains does not end.
    for (const pid of processes) process.kill(pid, 'SIGSTOP')
    t.teardown(() => {
      for (const pid of processes) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
    })
    process.kill(first.pid, 'SIGKILL')
    const next = beginUp(t, env)
    let ended = false
    void next.exited.then(() => (ended = true))
    await until('it to run, or to end', () => ended || next.stdout.includes('Running.'), 120_000)
    t.match(next.stdout, /the processes of the last start \([\d, ]+\) still finish their work; waiting for them/)
    t.match(next.stdout, 'Running.')
    t.equal(next.stderr, '')
    t.notOk(processes.some(isAlive), 'nothing of the last start is left')
    t.ok(await apiReady(env))
  },
)

t.test('a disk that takes nothing does not end the supervisor', async (t) => {
  t.doesNotThrow(() => noteChildren(join(t.testdir({ data: 'a file' }), 'data'), [process.pid]))
})
