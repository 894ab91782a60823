import { parseDomain } from '@postrider/core'
import t from 'tap'

const ACCEPTED: readonly (readonly [written: string, domain: string])[] = [
  ['ship.example', 'ship.example'],
  ['SHIP.Example', 'ship.example'],
  ['example', 'example'],
  ['a.b.c.d.e.f.example', 'a.b.c.d.e.f.example'],
  ['4ship.example', '4ship.example'],
  ['1.2.3.4a', '1.2.3.4a'],
  ['ship--yard.example', 'ship--yard.example'],
  ['m\u00fcnchen.example', 'xn--mnchen-3ya.example'],
  ['xn--mnchen-3ya.example', 'xn--mnchen-3ya.example'],
  ['XN--MNCHEN-3YA.example', 'xn--mnchen-3ya.example'],
  ['\u6e2f.\u4f8b\u3048', 'xn--j6w.xn--r8jz45g'],
  ['fa\u00df.example', 'xn--fa-hia.example'],
  [`${'s'.repeat(63)}.example`, `${'s'.repeat(63)}.example`],
]

const REFUSED: readonly string[] = [
  '',
  '.',
  '..',
  '.example',
  'ship.',
  'ship..example',
  '-ship.example',
  'ship-.example',
  'ship.example-',
  'sh ip.example',
  ' ship.example',
  'ship.example\n',
  'ship.example\0',
  'ship_yard.example',
  'ship/yard.example',
  'ship.example:25',
  'user@ship.example',
  'http://ship.example',
  '*.ship.example',
  'ship,example',
  'ship%2eexample',
  '127.0.0.1',
  '1.2',
  '[127.0.0.1]',
  '::1',
  'ship.123',
  'xn--a.example',
  'xn--ship-.example',
  'xn--.example',
  'har\u00adbor.example',
  'har\u200bbor.example',
  'ship\u00a0yard.example',
  '\u202eship.example',
  '\ud800.example',
  `${'s'.repeat(64)}.example`,
  `${'ship.'.repeat(50)}exam`,
]

for (const [written, domain] of ACCEPTED) {
  t.test(`parseDomain takes ${JSON.stringify(written)} for ${domain}`, async (t) => {
    t.equal(parseDomain(written), domain)
    t.equal(parseDomain(domain), domain)
  })
}

for (const written of REFUSED) {
  t.test(`parseDomain refuses ${JSON.stringify(written)}`, async (t) => {
    t.equal(parseDomain(written), undefined)
  })
}
