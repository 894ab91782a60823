import t from 'tap'
import { InvalidKeyThrottle } from '../../../../packages/core/src/accounts/keys/invalid-key-throttle.ts'
import type { Look } from '../../../../packages/core/src/accounts/keys/shared-look.ts'
import { networkOf } from '../../../../packages/core/src/platform/net/networks.ts'

/** Shows a key that was seen and was none, or with `unseen` one that nobody has seen. */
const shows = (brake: InvalidKeyThrottle, name: string, unseen?: Look): Promise<boolean | 'refused'> =>
  brake.admit(name, { key: 'key', wrong: !unseen }, unseen ?? (async () => new Set())).catch(() => 'refused')

t.test('a source is braked from its limit until a minute after its first invalid key', async (t) => {
  let now = 0
  const brake = new InvalidKeyThrottle(3, undefined, () => now)
  for (let time = 0; time < 3; time++) {
    t.equal(await shows(brake, 'a'), true)
    brake.note('a')
    now += 1000
  }
  t.equal(await shows(brake, 'a'), 'refused')
  t.equal(await shows(brake, 'b'), true)
  now = 59_999
  t.equal(await shows(brake, 'a'), 'refused')
  now = 60_000
  t.equal(await shows(brake, 'a'), true)
  brake.note('a')
  t.equal(await shows(brake, 'a'), true, 'it counts anew')
})

t.test('unknown keys are looked up while their source is throttled, and not before', async (t) => {
  const brake = new InvalidKeyThrottle(1, undefined, () => 0)
  const looks: string[][] = []
  const look: Look = async (keys) => {
    looks.push([...keys])
    return new Set(looks.length === 1 ? keys : [])
  }
  t.equal(await shows(brake, 'a', look), true)
  t.strictSame(looks, [])
  brake.note('a')
  t.equal(await shows(brake, 'a', look), true)
  t.equal(await shows(brake, 'a', look), false)
  t.strictSame(looks, [['key'], ['key']])
})

t.test('it remembers at most ten thousand sources, and none where there is no limit', async (t) => {
  const brake = new InvalidKeyThrottle(1, undefined, () => 0)
  for (let source = 0; source < 10_001; source++) brake.note(`${source}`)
  t.equal(await shows(brake, '0'), true, 'the oldest is forgotten')
  t.equal(await shows(brake, '1'), 'refused')
  t.equal(await shows(brake, '10000'), 'refused')
  const none = new InvalidKeyThrottle(0, undefined, () => 0)
  for (let time = 0; time < 1000; time++) none.note('a')
  t.equal(await shows(none, 'a'), true)
})

t.test('a source is an IPv4 address or the /64 of an IPv6 address', (t) => {
  const same: readonly (readonly [address: string, source: string])[] = [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:DB8:0001:0002::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.7', '64:ff9b:0:0::/64'],
    ['0.0.0.0', '0.0.0.0'],
    ['', ''],
  ]
  for (const [address, source] of same) t.equal(networkOf(address), source, address)
  t.end()
})
