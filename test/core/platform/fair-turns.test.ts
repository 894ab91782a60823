import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { createFairTurns, type TurnOptions } from '../../../packages/core/src/platform/concurrency/fair-turns.ts'

const ENDLESS = { waiting: Number.POSITIVE_INFINITY, each: Number.POSITIVE_INFINITY } as const

const refusalOf = (taken: Promise<unknown>) =>
  taken.then(
    () => undefined,
    (error) => error.errorName,
  )

/** Turns whose work ends when the test says so; `running` are those that have begun and have not ended, in order. */
function makeTurns(limits: { readonly capacity: number; readonly waiting: number; readonly each: number }) {
  const turns = createFairTurns(limits)
  const running: string[] = []
  const ends = new Map<string, (error?: Error) => void>()
  return {
    running,
    take(name: string, options?: TurnOptions): Promise<string> {
      const act = () =>
        new Promise<string>((resolve, reject) => {
          running.push(name)
          ends.set(name, (error) => (error ? reject(error) : resolve(name)))
        })
      return turns.take(name.replace(/\d/, ''), act, options)
    },
    async end(name: string, error?: Error): Promise<void> {
      running.splice(running.indexOf(name), 1)
      ends.get(name)?.(error)
      await wait(0)
    },
  }
}

t.test('those who wait have their turns in rotation, however many one of them asks for', async (t) => {
  const { take, end, running } = makeTurns({ capacity: 1, ...ENDLESS })
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'].map((name) => take(name))
  const order: string[] = []
  while (running[0]) {
    order.push(running[0])
    t.equal(running.length, 1)
    await end(running[0])
  }
  t.strictSame(order, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
  t.strictSame(await Promise.all(all), ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'])
})

t.test('turns run at the same time while their sizes fit, and a large one is not passed over', async (t) => {
  const { take, end, running } = makeTurns({ capacity: 10, ...ENDLESS })
  const all = [
    take('a1', { size: 6 }),
    take('b1', { size: 4 }),
    take('c1', { size: 9 }),
    take('d1', { size: 1 }),
    take('e1', { size: 30 }),
  ]
  t.strictSame(running, ['a1', 'b1'])
  await end('b1')
  t.strictSame(running, ['a1'], 'the small one waits behind the large one')
  await end('a1')
  t.strictSame(running, ['c1', 'd1'])
  await end('d1')
  t.strictSame(running, ['c1'])
  await end('c1')
  t.strictSame(running, ['e1'], 'one beyond the capacity runs alone')
  const last = take('f1')
  t.strictSame(running, ['e1'])
  await end('e1')
  t.strictSame(running, ['f1'])
  await end('f1')
  await Promise.all([...all, last])
})

t.test('beyond so many that wait, in all or of one, the next is refused at once', async (t) => {
  const { take, end, running } = makeTurns({ capacity: 1, waiting: 3, each: 2 })
  const all = ['a1', 'a2', 'a3'].map((name) => take(name))
  t.equal(await refusalOf(take('a4')), 'overloaded')
  all.push(take('b1'))
  t.equal(await refusalOf(take('c1')), 'overloaded')
  while (running[0]) await end(running[0])
  await Promise.all(all)
  const again = take('c2')
  t.strictSame(running, ['c2'])
  await end('c2')
  await again
})

t.test('a turn that does not come in time is given up, and those behind it move up', async (t) => {
  const { take, end, running } = makeTurns({ capacity: 10, ...ENDLESS })
  const first = take('a1', { size: 6, patienceMs: 10 })
  const large = take('b1', { size: 8, patienceMs: 30 })
  const small = take('c1', { size: 2 })
  t.strictSame(running, ['a1'])
  t.equal(await refusalOf(large), 'overloaded')
  t.strictSame(running, ['a1', 'c1'], 'only waiting is limited in time')
  await end('a1')
  await end('c1')
  t.strictSame(await Promise.all([first, small]), ['a1', 'c1'])
})

t.test('what fails gives its turn back', async (t) => {
  const { take, end, running } = makeTurns({ capacity: 1, ...ENDLESS })
  const failing = take('a1')
  const next = take('a2')
  const failed = t.rejects(failing, /no/)
  await end('a1', new Error('no'))
  await failed
  t.strictSame(running, ['a2'])
  await end('a2')
  t.equal(await next, 'a2')
})
