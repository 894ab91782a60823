import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { createThreadPool } from '../../../packages/core/src/platform/concurrency/guarded-thread.ts'

const bounds = {
  name: 'a test',
  url: new URL('./endless-thread.ts', import.meta.url),
  threads: 1,
  waiting: 2,
  mostCpu: 200,
  longest: 60_000,
  heap: 32,
}

function makePool(change: Partial<typeof bounds> & { idle?: number } = {}) {
  const pool = createThreadPool<string, string>({ ...bounds, ...change })
  t.teardown(() => pool.close())
  return pool
}

t.test('an order is answered, and what it throws is thrown', async (t) => {
  const pool = makePool()
  t.equal(await pool.ask('hello'), 'hello')
  await t.rejects(pool.ask('throw'), { message: 'told to' })
  t.equal(await pool.ask('again'), 'again')
})

t.test('many orders of one delay those of another by one', async (t) => {
  const pool = makePool({ waiting: 10 })
  const answered: string[] = []
  const ask = (who: string) => pool.ask('hello', { who }).then(() => answered.push(who))
  await Promise.all([...Array.from({ length: 6 }, () => ask('one')), ask('other')])
  t.ok(answered.indexOf('other') <= 2, answered.join())
})

t.test('costly orders of one leave a thread for another that has just asked', async (t) => {
  const pool = makePool({ threads: 2, waiting: 10 })
  const answered: string[] = []
  const ask = (order: string, who: string) =>
    pool
      .ask(order, { who })
      .catch(() => {})
      .then(() => answered.push(who))
  await Promise.all([ask('hello', 'other'), ask('hello', 'costly')])
  answered.length = 0
  await Promise.all([...Array.from({ length: 4 }, () => ask('compute', 'costly')), ask('hello', 'other')])
  t.equal(answered[0], 'other')
})

t.test('what computes too long or takes too much memory is stopped, and the next order is answered', async (t) => {
  const pool = makePool()
  await t.rejects(pool.ask('compute'), { message: 'a thread was stopped: time' })
  t.equal(await pool.ask('next'), 'next')
  // With time to reach its bound of memory, which takes more than 200 ms where new memory is slow.
  const patient = makePool({ mostCpu: 20_000 })
  await t.rejects(patient.ask('take memory'), { message: 'a thread was stopped: memory' })
  t.equal(await patient.ask('next'), 'next')
})

t.test('what does not end by the clock is stopped too', async (t) => {
  await t.rejects(makePool({ mostCpu: 60_000, longest: 300 }).ask('compute'), { message: 'a thread was stopped: busy' })
})

t.test('an order that comes while an idle thread is being ended is carried out by another one', async (t) => {
  const pool = makePool({ idle: 20 })
  for (let round = 0; round < 10; round++) {
    t.equal(await pool.ask('first'), 'first')
    // From before the thread is ended until after it, in steps of about half a millisecond.
    const until = performance.now() + 19 + round / 2
    while (performance.now() < until) await nextTurn()
    t.equal(await pool.ask('second'), 'second')
  }
})

t.test('beyond those that may wait an order is refused as overload', async (t) => {
  const pool = makePool()
  const answers = ['one', 'two', 'three'].map((order) => pool.ask(order))
  await t.rejects(pool.ask('four'), { message: 'Service temporarily overloaded, try again later' })
  t.strictSame(await Promise.all(answers), ['one', 'two', 'three'])
})

t.test('when the pool is closed, what waits and what comes is refused as overload', async (t) => {
  const pool = makePool()
  const first = pool.ask('first')
  const waiting = pool.ask('second')
  const refused = t.rejects(waiting, { message: 'Service temporarily overloaded, try again later' })
  await pool.close()
  await refused
  t.equal(await first, 'first')
  await t.rejects(pool.ask('third'), { message: 'Service temporarily overloaded, try again later' })
})
