import t from 'tap'
import { sourceOf, WrongKeyBrake } from '../../../packages/core/src/auth/brake.ts'

const refusedOf = (brake: WrongKeyBrake, name: string, known: 'good' | 'wrong' | 'unseen' = 'wrong'): boolean => {
  try {
    brake.check(name, known)
    return false
  } catch {
    return true
  }
}

t.test('a source is braked from its limit until a minute after its first wrong key', (t) => {
  let now = 0
  const brake = new WrongKeyBrake(3, undefined, () => now)
  for (let time = 0; time < 3; time++) {
    t.notOk(refusedOf(brake, 'a'))
    brake.note('a')
    now += 1000
  }
  t.ok(refusedOf(brake, 'a'))
  t.notOk(refusedOf(brake, 'b'))
  t.notOk(refusedOf(brake, 'a', 'good'))
  t.notOk(refusedOf(brake, 'a', 'unseen'), 'one look a second')
  t.ok(refusedOf(brake, 'a', 'unseen'))
  now += 1000
  t.notOk(refusedOf(brake, 'a', 'unseen'))
  now = 59_999
  t.ok(refusedOf(brake, 'a'))
  now = 60_000
  t.notOk(refusedOf(brake, 'a'))
  brake.note('a')
  t.notOk(refusedOf(brake, 'a'), 'it counts anew')
  t.end()
})

t.test('it remembers ten thousand sources and no more, and none where there is no limit', (t) => {
  const brake = new WrongKeyBrake(1, undefined, () => 0)
  for (let source = 0; source < 10_001; source++) brake.note(`${source}`)
  t.notOk(refusedOf(brake, '0'), 'the oldest is forgotten')
  t.ok(refusedOf(brake, '1'))
  t.ok(refusedOf(brake, '10000'))
  const none = new WrongKeyBrake(0, undefined, () => 0)
  for (let time = 0; time < 1000; time++) none.note('a')
  t.notOk(refusedOf(none, 'a'))
  t.end()
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
  for (const [address, source] of same) t.equal(sourceOf(address), source, address)
  t.end()
})
