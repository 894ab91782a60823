import { createCache } from '@postrider/core'
import t from 'tap'

/** A cache of 1,000 ms and three entries, with the clock and the database in the test's hand. */
function makeCache() {
  const state = { now: 5000, loads: [] as string[], fails: false, answer: undefined as string | undefined }
  const waiting: (() => void)[] = []
  const cache = createCache<string>({
    maxAge: 1000,
    maxEntries: 3,
    monotonic: () => state.now,
    load: async (key) => {
      state.loads.push(key)
      if (state.answer !== undefined) {
        const value = state.answer
        return new Promise((resolve) => waiting.push(() => resolve(value)))
      }
      if (state.fails) throw new Error(`no ${key}`)
      return `${key} at ${state.now}`
    },
  })
  return { state, cache, answerNext: () => waiting.shift()?.() }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

t.test('get loads once and answers at once until half the age', async (t) => {
  const { cache, state } = makeCache()
  t.equal(await cache.get('a'), 'a at 5000')
  state.now += 499
  t.equal(cache.get('a'), 'a at 5000', 'not even a promise')
  t.strictSame(state.loads, ['a'])
})

t.test('past half its age an answer is renewed behind the caller', async (t) => {
  const { cache, state } = makeCache()
  await cache.get('a')
  state.now += 500
  t.equal(cache.get('a'), 'a at 5000', 'this caller does not wait')
  await turn()
  t.equal(cache.get('a'), 'a at 5500', 'the next one has the new answer')
  t.strictSame(state.loads, ['a', 'a'])
})

t.test('an answer as old as its bound is never given, also when renewing it failed', async (t) => {
  const { cache, state } = makeCache()
  await cache.get('a')
  state.fails = true
  state.now += 900
  t.equal(cache.get('a'), 'a at 5000')
  await turn()
  state.now += 99
  t.equal(cache.get('a'), 'a at 5000')
  await turn()
  state.now += 1
  await t.rejects(async () => cache.get('a'), { message: 'no a' })
  state.fails = false
  t.equal(await cache.get('a'), 'a at 6000')
})

t.test('the age counts from before the answer was requested', async (t) => {
  const { cache, state, answerNext } = makeCache()
  state.answer = 'slow'
  const first = cache.get('a')
  state.now += 900
  answerNext()
  t.equal(await first, 'slow')
  state.answer = undefined
  state.now += 100
  t.equal(await cache.get('a'), 'a at 6000', 'asked for 1,000 ms ago, though it came just now')
})

t.test('callers who come while a load runs share it', async (t) => {
  const { cache, state, answerNext } = makeCache()
  state.answer = 'one'
  const callers = Array.from({ length: 100 }, () => cache.get('a'))
  answerNext()
  t.strictSame(new Set(await Promise.all(callers)), new Set(['one']))
  t.strictSame(state.loads, ['a'])
})

t.test(
  'a load that runs longer than the age is not shared with new callers, and does not overwrite a newer answer',
  async (t) => {
    const { cache, state, answerNext } = makeCache()
    state.answer = 'before the key was revoked'
    const first = cache.get('a')
    state.now += 1000
    state.answer = 'after it'
    const second = cache.get('a')
    t.equal(state.loads.length, 2)
    answerNext()
    answerNext()
    t.equal(await first, 'before the key was revoked')
    t.equal(await second, 'after it')
    t.equal(cache.get('a'), 'after it')
  },
)

t.test('an older load that comes back last does not overwrite the newer answer', async (t) => {
  const answers = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
  let now = 0
  let loads = 0
  const cache = createCache<string>({
    maxAge: 1000,
    maxEntries: 1,
    monotonic: () => now,
    load: () => (answers[loads++] as PromiseWithResolvers<string>).promise,
  })
  const old = cache.get('a')
  now = 1000
  const fresh = cache.get('a')
  answers[1]?.resolve('new')
  t.equal(await fresh, 'new')
  answers[0]?.resolve('old')
  t.equal(await old, 'old')
  t.equal(cache.get('a'), 'new')
})

t.test(
  'a value whose own age is shorter is used for as long after its load, and never beyond the age of all',
  async (t) => {
    let now = 0
    let loads = 0
    const cache = createCache<number>({
      maxAge: 1000,
      ageOf: (load) => (load === 1 ? 100 : 5000),
      maxEntries: 1,
      monotonic: () => now,
      load: async () => {
        now += 400
        return ++loads
      },
    })
    t.equal(await cache.get('a'), 1)
    now += 99
    t.equal(await cache.get('a'), 1, 'what was slow to load is used, too')
    now += 1
    t.equal(await cache.get('a'), 2)
    now += 599
    t.equal(await cache.get('a'), 2)
    await turn()
    now += 1000
    t.equal(await cache.get('a'), 4, 'the third load was one in the background')
  },
)

t.test('a load that fails is not kept: every waiting caller is told, the next one asks again', async (t) => {
  const { cache, state } = makeCache()
  state.fails = true
  const callers = await Promise.allSettled([cache.get('a'), cache.get('a')])
  t.strictSame(
    callers.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  state.fails = false
  t.equal(await cache.get('a'), 'a at 5000')
  t.strictSame(state.loads, ['a', 'a'])
})

t.test('beyond its bound the oldest entry goes', async (t) => {
  const { cache, state } = makeCache()
  for (const key of ['a', 'b', 'c', 'd']) await cache.get(key)
  for (const key of ['b', 'c', 'd']) t.equal(cache.get(key), `${key} at 5000`)
  t.strictSame(state.loads, ['a', 'b', 'c', 'd'])
  await cache.get('a')
  t.equal(state.loads.length, 5)
})

t.test('forget drops one answer or all, also one that is on its way', async (t) => {
  const { cache, state, answerNext } = makeCache()
  await cache.get('a')
  await cache.get('b')
  cache.forget('a')
  t.equal(await cache.get('a'), 'a at 5000')
  t.strictSame(state.loads, ['a', 'b', 'a'])
  cache.forget()
  state.answer = 'stale'
  const onItsWay = cache.get('b')
  cache.forget('b')
  state.answer = undefined
  t.equal(await cache.get('b'), 'b at 5000')
  answerNext()
  t.equal(await onItsWay, 'stale')
  t.equal(cache.get('b'), 'b at 5000', 'what was asked before does not come back')
})
