import t from 'tap'
import { type Look, SharedLook } from '../../../../packages/core/src/accounts/keys/shared-look.ts'

const keysOf = (count: number) => Array.from({ length: count }, (_, at) => `key ${at}`)

t.test('keys that come within a second share a look, and the next one is a second later', async (t) => {
  const looks: [number, readonly string[]][] = []
  const look: Look = async (keys) => {
    looks.push([performance.now(), keys])
    return new Set(['key 0', 'key 2'])
  }
  const shared = new SharedLook(look, { every: 200 })
  t.strictSame(await Promise.all(keysOf(2).map((key) => shared.has(key))), [true, false])
  t.strictSame(await Promise.all(keysOf(3).map((key) => shared.has(key))), [true, false, true])
  const [first, second] = looks
  t.strictSame([first?.[1], second?.[1]], [keysOf(2), keysOf(3)])
  const apart = (second?.[0] ?? 0) - (first?.[0] ?? 0)
  t.ok(apart > 190, `${apart} ms`)
})

t.test(
  'where more come than a look takes, each has the same chance to be drawn, and the others do not wait',
  async (t) => {
    const drawn = new Map(keysOf(40).map((key) => [key, 0]))
    for (let round = 0; round < 1000; round++) {
      const shared = new SharedLook(async (keys) => new Set(keys), { most: 10 })
      const answers = await Promise.all([...drawn.keys()].map(async (key) => [key, await shared.has(key)] as const))
      const taken = answers.filter(([, there]) => there)
      if (taken.length !== 10) t.fail(`${taken.length} drawn`)
      for (const [key] of taken) drawn.set(key, (drawn.get(key) ?? 0) + 1)
    }
    // 250 are to be expected; 6 standard deviations are 82.
    for (const [key, times] of drawn) t.ok(Math.abs(times - 250) < 82, `${key}: ${times}`)
  },
)

t.test('a look that fails is told to all that share it, and the next one is made', async (t) => {
  let fails = true
  const look: Look = async (keys) => {
    if (fails) throw new Error('away')
    return new Set(keys)
  }
  const shared = new SharedLook(look, { every: 1 })
  for (const one of await Promise.allSettled(keysOf(3).map((key) => shared.has(key))))
    t.match(one, { status: 'rejected', reason: { message: 'away' } })
  fails = false
  t.equal(await shared.has('key'), true)
})
