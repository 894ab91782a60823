import t from 'tap'
import { until } from '../helpers/until.ts'
import { beginUp, commandLine, descendantsOf, upSettings } from './postrider.ts'

const PROGRAMS = /packages\/(?:api|relay|delivery|sandbox)\/src\/[a-z-]+\.ts/

t.test('SIGHUP while the database starts, and before any process is ready, does not end the start', async (t) => {
  const installation = beginUp(t, await upSettings())
  let ended: unknown
  void installation.exited.then((how) => (ended = how))
  const hangUp = () => process.kill(installation.pid, 'SIGHUP')
  await until('the database', () => ended || installation.stdout.includes('creating the embedded database'), 90_000)
  hangUp()
  hangUp()
  const isRunning = () => descendantsOf(installation.pid).some((pid) => PROGRAMS.test(commandLine(pid)))
  await until('the first process', () => ended || isRunning(), 90_000)
  t.equal(ended, undefined)
  hangUp()
  t.equal(await installation.end('SIGTERM'), 0)
  t.equal(installation.stderr, '')
})
