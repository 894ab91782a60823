import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import {
  startWatchedThread,
  ThreadStopped,
  type WatchedOptions,
} from '../../../packages/core/src/platform/concurrency/watched-thread.ts'

interface Said {
  readonly said: string
  readonly cpu: number
}

type Limits = Partial<Pick<WatchedOptions<Said>, 'mostCpu' | 'longest' | 'heap' | 'onCheck'>>

/** Starts a thread that has reported that it is ready; `next` is its next report, `ended` what it ended with. */
async function start(t: Test, limits: Limits = {}) {
  let heard = Promise.withResolvers<string>()
  const ends: Error[] = []
  const ended = Promise.withResolvers<Error>()
  const thread = startWatchedThread<string, Said>({
    name: 'a test',
    url: new URL('./watched-thread.ts', import.meta.url),
    workerData: { given: 1 },
    heap: 32,
    mostCpu: 60_000,
    interval: 20,
    ...limits,
    onReport: ({ said }) => heard.resolve(said),
    onEnd: (cause) => {
      ends.push(cause)
      ended.resolve(cause)
    },
  })
  t.teardown(() => thread.stop())
  const next = async (): Promise<string> => {
    const said = await heard.promise
    heard = Promise.withResolvers<string>()
    return said
  }
  t.equal(await next(), 'ready')
  return { thread, next, ended: ended.promise, ends }
}

t.test('it gets its data, and of the environment no more than the folder of the compile cache', async (t) => {
  const { thread, next } = await start(t)
  thread.send('tell')
  const told = JSON.parse(await next())
  t.strictSame(told.workerData, { given: 1 })
  t.strictSame(
    told.names.filter((name: string) => name !== 'NODE_COMPILE_CACHE'),
    [],
  )
})

t.test('what it ends with is told once: a limit, an error or its own end', async (t) => {
  const endOf = async (order: string, limits?: Limits) => {
    const { thread, ended, ends } = await start(t, limits)
    thread.setBusy(true)
    thread.send(order)
    const cause = await ended
    t.notOk(thread.alive, order)
    await thread.stop()
    await wait(50)
    t.equal(ends.length, 1, order)
    return cause
  }
  const stopped = (why: ThreadStopped['why']) => new ThreadStopped(why)
  t.match(await endOf('compute', { mostCpu: 100 }), stopped('time'))
  t.match(await endOf('compute', { longest: 100 }), stopped('busy'))
  t.match(await endOf('take memory'), stopped('memory'))
  t.match(await endOf('throw'), { message: 'told to' })
  t.match(await endOf('end'), { message: 'the thread ended' })
})

t.test('the limits are of the time between two reports, and only of a busy thread', async (t) => {
  let checks = 0
  const { thread, next } = await start(t, { longest: 400, onCheck: () => checks++ })
  await wait(100)
  t.equal(checks, 0, 'idle')
  thread.setBusy(true)
  for (let part = 0; part < 6; part++) {
    await wait(100)
    thread.send(`part ${part}`)
    t.equal(await next(), `part ${part}`)
  }
  t.ok(thread.alive, 'in all longer than the limit')
  t.ok(checks > 0)
  thread.setBusy(false)
  await wait(500)
  t.ok(thread.alive, 'and idle for longer')
})

t.test('a thread that has ended is not watched', async (t) => {
  let checks = 0
  const { thread, ended } = await start(t, { onCheck: () => checks++ })
  await thread.stop()
  await ended
  thread.setBusy(true)
  await wait(100)
  t.equal(checks, 0)
})
