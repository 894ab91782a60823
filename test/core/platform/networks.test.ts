import { NetworkList, plainAddress } from '@postrider/core'
import t from 'tap'
import {
  isPrivateAddress,
  NetworkMap,
  parseNetworks,
  siteNetworkOf,
} from '../../../packages/core/src/platform/net/networks.ts'

const CASES: readonly { networks: readonly string[]; in: readonly string[]; out: readonly string[] }[] = [
  {
    networks: ['192.0.2.7'],
    in: ['192.0.2.7', '::ffff:192.0.2.7', '::FFFF:192.0.2.7', '::ffff:c000:207'],
    out: ['192.0.2.8', '::1', '192.0.2', '', 'ship.example'],
  },
  {
    networks: ['10.0.0.0/8', '192.0.2.0/24'],
    in: ['10.0.0.0', '10.255.255.255', '192.0.2.255'],
    out: ['9.255.255.255', '11.0.0.0', '192.0.3.0', '2001:db8::1'],
  },
  // Host bits that are set are taken for the network they lie in, as the database does.
  { networks: ['10.1.2.3/8'], in: ['10.0.0.1', '10.1.2.3'], out: ['11.1.2.3'] },
  { networks: ['0.0.0.0/0'], in: ['0.0.0.0', '255.255.255.255', '::ffff:1.2.3.4'], out: ['2001:db8::1'] },
  { networks: ['2001:db8::/32'], in: ['2001:db8::1', '2001:DB8:ffff::'], out: ['2001:db9::1', '10.0.0.1'] },
  { networks: ['fe80::/10'], in: ['fe80::1', 'fe80::1%eth0'], out: ['fec0::1'] },
  { networks: ['::1'], in: ['::1', '0:0:0:0:0:0:0:1'], out: ['::2', '127.0.0.1'] },
  { networks: ['::ffff:192.0.2.0/120'], in: ['192.0.2.9', '::ffff:192.0.2.9'], out: ['192.0.3.9', '::1'] },
]

for (const { networks, in: inside, out: outside } of CASES) {
  t.test(`${networks.join(' and ')} hold ${inside.join(', ')} and not ${outside.join(', ')}`, async (t) => {
    const list = new NetworkList(parseNetworks(networks))
    for (const address of inside) t.equal(list.has(address), true, address)
    for (const address of outside) t.equal(list.has(address), false, address)
  })
}

t.test('an empty list says so and holds nothing', async (t) => {
  t.equal(new NetworkList([]).empty, true)
  t.equal(new NetworkList([]).has('127.0.0.1'), false)
  t.equal(new NetworkList(['127.0.0.1']).empty, false)
})

t.test('parseNetworks drops blanks and quotes the first invalid entry', async (t) => {
  t.strictSame(parseNetworks([' 10.0.0.0/8 ', '', '  ', '::1/128']), ['10.0.0.0/8', '::1/128'])
  for (const wrong of [
    'ship.example',
    '10.0.0',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0.0/',
    '10.0.0.0/a',
    '010.0.0.1',
    '::1/129',
    '::1%lo',
    'fe80::1%eth0',
    '[::1]',
    '10.0.0.1:80',
    '/8',
    '10.0.0.0 /8',
    '*',
  ]) {
    t.throws(
      () => parseNetworks(['127.0.0.1', wrong]),
      { message: `"${wrong}" is not a valid IP address or network` },
      wrong,
    )
  }
})

t.test('plainAddress takes the IPv4-mapped prefix and the zone away', async (t) => {
  t.equal(plainAddress('::ffff:127.0.0.1'), '127.0.0.1')
  t.equal(plainAddress('fe80::1%eth0'), 'fe80::1')
  t.equal(plainAddress('::1'), '::1')
})

t.test('siteNetworkOf returns the /16 of an IPv4 address and the /48 of an IPv6 one', async (t) => {
  for (const [address, site] of [
    ['192.0.2.7', '192.0.0.0/16'],
    ['::ffff:192.0.2.7', '192.0.0.0/16'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
    ['2001:DB8:0001:ffff::9', '2001:db8:1::/48'],
    ['::1', '0:0:0::/48'],
    ['fe80::1%eth0', 'fe80:0:0::/48'],
  ] as const)
    t.equal(siteNetworkOf(address), site, address)
})

t.test('IPv6 addresses outside 2000::/3 are private in every spelling', async (t) => {
  for (const address of [
    'a::1',
    'ff::1',
    '0:0:0:1::1',
    '::1',
    'fe80::1',
    '4000::1',
    '02ff::1',
    '::ffff:10.0.0.1',
    '::ffff:a00:1',
    '::ffff:0:1:1',
  ])
    t.equal(isPrivateAddress(address), true, address)
  for (const address of ['2606:4700::1111', '2a00:1450:4001:0:0:0:0:1', '::ffff:9.9.9.9', '::ffff:909:909', '9.9.9.9'])
    t.equal(isPrivateAddress(address), false, address)
})

t.test('a map of networks finds that of an address, in each spelling', async (t) => {
  const names = ['192.0.2.0/25', '192.0.2.128', '198.51.100.128/25', '10.0.0.0/8', '2001:db8::/33', '2001:db8:8000::7']
  const networks = new NetworkMap(names.map((name) => [name, name]))
  for (const [address, network] of [
    ['192.0.2.0', '192.0.2.0/25'],
    ['192.0.2.127', '192.0.2.0/25'],
    ['192.0.2.128', '192.0.2.128'],
    ['192.0.2.129', undefined],
    ['::ffff:192.0.2.128', '192.0.2.128'],
    ['::ffff:c000:280', '192.0.2.128'],
    ['198.51.100.127', undefined],
    ['198.51.100.128', '198.51.100.128/25'],
    ['10.255.255.255', '10.0.0.0/8'],
    ['2001:DB8:7fff::1%eth0', '2001:db8::/33'],
    ['2001:db8:8000::6', undefined],
    ['2001:0db8:8000:0:0:0:0.0.0.7', '2001:db8:8000::7'],
    ['::192.0.2.128', undefined],
    ['::', undefined],
    ['', undefined],
    ['unix', undefined],
  ] as const)
    t.equal(networks.get(address), network, address)
  t.equal(new NetworkMap([]).get('192.0.2.1'), undefined)
})
