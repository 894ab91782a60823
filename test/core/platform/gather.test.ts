import t from 'tap'
import { gather } from '../../../packages/core/src/platform/concurrency/gather.ts'

t.test('keys that are requested in one iteration of the event loop are loaded together, up to a limit', async (t) => {
  const calls: (readonly number[])[] = []
  const load = gather(async (keys: readonly number[]) => {
    calls.push(keys)
    return keys.map((key) => `value ${key}`)
  }, 3)
  t.strictSame(await Promise.all([1, 2, 3, 4].map(load)), ['value 1', 'value 2', 'value 3', 'value 4'])
  t.equal(await load(5), 'value 5')
  t.strictSame(calls, [[1, 2, 3], [4], [5]])
})

t.test('a call that fails or hangs concerns only its own keys', async (t) => {
  const load = gather(async ([key]: readonly string[]) => {
    if (key === 'hangs') await new Promise(() => {})
    if (key === 'fails') throw new Error('no value')
    return [key as string]
  }, 1)
  void load('hangs')
  const failed = t.rejects(load('fails'), { message: 'no value' })
  t.equal(await load('works'), 'works')
  await failed
  t.equal(await load('later'), 'later')
})
