import { createLog } from '@postrider/core'
import t from 'tap'
import { cleanUp, loggedCleanUp } from '../../../../packages/core/src/platform/database/clean-up.ts'
import { makeDatabase } from '../../../helpers/database.ts'

function recorded() {
  const levels: string[] = []
  const log = createLog('test', 'silent')
  const note = (level: string) => () => void levels.push(level)
  return { levels, log: Object.assign(Object.create(log), { info: note('info'), warn: note('warn') }) as typeof log }
}

t.test('a cleanup deletes in turn, one statement at a time, and a failure keeps no other from it', async (t) => {
  const database = await makeDatabase()
  t.teardown(() => database.drop())
  const called: string[] = []
  let running = 0
  let most = 0
  const forget = (name: string, counts: number[]) => async () => {
    most = Math.max(most, ++running)
    called.push(name)
    await database.sql`select 1`
    running--
    return counts.shift() ?? 0
  }
  const failing = async () => Promise.reject(new Error('a bug'))
  await t.rejects(cleanUp(database.sql, [forget('much', [5, 5]), failing, forget('little', [1])]), { message: 'a bug' })
  t.strictSame(called, ['much', 'little', 'much', 'little', 'much'])
  t.equal(most, 1)
})

t.test('a cleanup that meets a lock is worth a warning when it fails again and again', async (t) => {
  const { levels, log } = recorded()
  let fails = true
  const locked = Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' })
  const cleanUp = loggedCleanUp(() => (fails ? Promise.reject(locked) : Promise.resolve()), log)
  for (let time = 0; time < 5; time++) await cleanUp()
  t.strictSame(levels, ['info', 'info', 'info', 'info', 'warn'])
  fails = false
  await cleanUp()
  fails = true
  await cleanUp()
  t.equal(levels.at(-1), 'info', 'it is counted anew')
})

t.test('any other failure of a cleanup is a warning at once', async (t) => {
  const { levels, log } = recorded()
  await loggedCleanUp(() => Promise.reject(new Error('a bug')), log)()
  t.strictSame(levels, ['warn'])
})
