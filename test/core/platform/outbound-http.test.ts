import { createServer } from 'node:net'
import { createOutboundHttp, OutboundError, type OutboundFailure } from '@postrider/core'
import t, { type Test } from 'tap'
import { startDns } from '../../helpers/dns.ts'
import { freePorts } from '../../helpers/ports.ts'
import { startReceiver } from '../../helpers/receiver.ts'

/** Spellings of the inside: every one is refused before anything is connected. */
const INSIDE = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '127.255.255.254',
  '0.0.0.0',
  '0',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '0177.1',
  '017700000001',
  '127.0.0.1.',
  '%31%32%37.0.0.1',
  '127%2e0%2e0%2e1',
  '１２７.0.0.1',
  '127。0。0。1',
  '①②⑦.⓪.⓪.①',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:0:127.0.0.1]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::1]',
  '[2002:7f00:1::]',
  '[2002:a00:1::1]',
  '[2001:0:7f00:1::]',
  '[2001:2::1]',
  '[2001:20::1]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[100::1]',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[5f00::1]',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '100.127.255.254',
  '169.254.169.254',
  '169.254.0.1',
  '2852039166',
  '0xa9fea9fe',
  '0251.0376.0251.0376',
  '[::ffff:169.254.169.254]',
  '[::ffff:a9fe:a9fe]',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.1',
  '192.168.1.254',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'a.localhost',
  'a.b.localhost.',
  'ｌｏｃａｌｈｏｓｔ',
]
const OUTSIDE = [
  '1.1.1.1',
  '8.8.8.8',
  '172.32.0.1',
  '100.128.0.1',
  '[2606:4700::1111]',
  '[::ffff:8.8.8.8]',
  'ship.example',
]

/** No URL we would ask for, wherever it may lead. */
const MALFORMED = [
  '',
  'ship.example',
  '/hook',
  '//ship.example/',
  'http:ship.example',
  'http:/ship.example',
  'http:///ship.example',
  'ftp://ship.example/',
  'file:///etc/passwd',
  'gopher://127.0.0.1:25/',
  'javascript:alert(1)',
  'data:text/plain,x',
  'http://user@ship.example/',
  'http://user:pass@ship.example/',
  'http://@ship.example/',
  'http://:@ship.example/',
  'http://ship.example\\@127.0.0.1/',
  'http:\\\\ship.example/',
  'http://ship.example/ x',
  'http://ship.example/\t',
  'http://ship.example/\r\nHost: x',
  ' http://ship.example/',
  'http://ship.example:99999/',
  'http://ship.example:0x50/',
  'http://[::1',
  'http://[fe80::1%25eth0]/',
  'http://a..example/',
  'http://.example/',
  'http://-a.example/',
  'http://?x',
  'http://256.256.256.256/',
  'http://1.2.3.4.5/',
  `http://ship.example/${'a'.repeat(2048)}`,
  `http://${'a'.repeat(64)}.example/`,
]

const strict = { dnsServers: [], outboundNetworks: [], outboundPorts: [80, 443] }

function kindOf(act: () => unknown): OutboundFailure | undefined {
  try {
    act()
  } catch (error) {
    if (error instanceof OutboundError) return error.kind
    throw error
  }
  return undefined
}

async function failureOf(asked: Promise<unknown>): Promise<OutboundFailure | undefined> {
  try {
    await asked
  } catch (error) {
    if (error instanceof OutboundError) return error.kind
    throw error
  }
  return undefined
}

t.test('an address of the inside is refused in every spelling', async (t) => {
  const http = createOutboundHttp(strict)
  t.ok(INSIDE.length >= 60, `${INSIDE.length}`)
  for (const host of INSIDE) {
    t.equal(
      kindOf(() => http.check(`http://${host}/`)),
      'private',
      host,
    )
    t.equal(await failureOf(http.request({ url: `https://${host}/hook`, method: 'POST' })), 'private', host)
  }
  for (const host of OUTSIDE)
    t.equal(
      kindOf(() => http.check(`http://${host}/`)),
      undefined,
      host,
    )
})

t.test('anything but a plain http(s) URL is rejected', async (t) => {
  const http = createOutboundHttp({ ...strict, outboundNetworks: ['0.0.0.0/0', '::/0'], outboundPorts: [] })
  for (const url of MALFORMED)
    t.equal(
      kindOf(() => http.check(url)),
      'url',
      url.slice(0, 60),
    )
})

t.test('only ports that are allowed are asked', async (t) => {
  const http = createOutboundHttp(strict)
  for (const port of [22, 25, 2375, 6379, 8080]) {
    t.equal(
      kindOf(() => http.check(`http://ship.example:${port}/`)),
      'url',
      `${port}`,
    )
  }
  for (const port of [80, 443])
    t.equal(
      kindOf(() => http.check(`http://ship.example:${port}/`)),
      undefined,
      `${port}`,
    )
})

/** 127.0.0.2 stands for the outside; traps on the same port of 127.0.0.1 and ::1 must get nothing. */
async function internet(t: Test) {
  // One that the system gave out would be free at the first address only.
  const [port] = await freePorts(1)
  const receiver = await startReceiver(t, undefined, '127.0.0.2', port)
  const trapped: string[] = []
  for (const host of ['127.0.0.1', '::1']) {
    const trap = createServer((socket) => {
      trapped.push(host)
      socket.destroy()
    })
    await new Promise<void>((resolve) => trap.listen(receiver.port, host, resolve))
    t.teardown(() => trap.close())
  }
  const dns = await startDns(t, {})
  const http = createOutboundHttp({
    dnsServers: [dns.address],
    outboundNetworks: ['127.0.0.2'],
    outboundPorts: [receiver.port],
  })
  const ask = (name: string) => http.request({ url: `http://${name}:${receiver.port}/`, method: 'POST', body: '[]' })
  return { receiver, trapped, dns, ask }
}

t.test('a name that leads inside is refused, wholly or among others', async (t) => {
  const { receiver, trapped, dns, ask } = await internet(t)
  dns.zones['fine.test'] = { a: ['127.0.0.2'] }
  t.equal((await ask('fine.test')).status, 200)
  const inside = {
    'plain.test': { a: ['127.0.0.1'] },
    'mixed.test': { a: ['127.0.0.2', '127.0.0.1'] },
    'six.test': { a: ['127.0.0.2'], aaaa: ['::1'] },
    'mapped.test': { aaaa: ['::ffff:127.0.0.1'] },
    'mapped-mixed.test': { a: ['127.0.0.2'], aaaa: ['::ffff:7f00:1'] },
    'nat64.test': { aaaa: ['64:ff9b::7f00:1'] },
    'sixtofour.test': { aaaa: ['2002:7f00:1::'] },
    'meta.test': { a: ['169.254.169.254'] },
    'cgnat.test': { a: ['100.64.0.1'] },
    'zero.test': { a: ['0.0.0.0'] },
    'any.test': { aaaa: ['::'] },
    'ten.test': { a: ['10.0.0.1'] },
    'link.test': { aaaa: ['fe80::1'] },
    'local.test': { aaaa: ['fd00::1'] },
  }
  Object.assign(dns.zones, inside)
  for (const name of Object.keys(inside)) t.equal(await failureOf(ask(name)), 'private', name)
  t.equal(await failureOf(ask('nowhere.test')), 'dns')
  dns.zones['broken.test'] = { fails: 'servfail' }
  t.equal(await failureOf(ask('broken.test')), 'dns')
  t.strictSame(trapped, [])
  t.equal(receiver.requests.length, 1)
})

t.test('the address that was checked is the one that is connected to, whatever the name says next', async (t) => {
  const { receiver, trapped, dns, ask } = await internet(t)
  let asked = 0
  dns.zones['rebind.test'] = {
    get a() {
      return asked++ % 2 === 0 ? ['127.0.0.2'] : ['127.0.0.1']
    },
  }
  for (let round = 0; round < 5; round++) {
    t.equal((await ask('rebind.test')).status, 200, 'first it is the outside')
    t.equal(await failureOf(ask('rebind.test')), 'private', 'then the inside')
  }
  t.equal(asked, 10, 'one question a request')
  t.equal(receiver.requests.length, 5)
  t.strictSame(trapped, [])
})

t.test('redirects of every kind to the inside are not followed', async (t) => {
  const { receiver, trapped, dns, ask } = await internet(t)
  dns.zones['fine.test'] = { a: ['127.0.0.2'] }
  for (const status of [300, 301, 302, 303, 304, 305, 307, 308]) {
    receiver.react = (_request, response) =>
      response
        .writeHead(status, { location: `http://127.0.0.1:${receiver.port}/`, refresh: '0;url=http://127.0.0.1/' })
        .end()
    t.equal((await ask('fine.test')).status, status)
  }
  t.strictSame(trapped, [])
})

t.test('a request says who it is of, asks for nothing compressed and keeps no connection', async (t) => {
  const { receiver, dns, ask } = await internet(t)
  dns.zones['fine.test'] = { a: ['127.0.0.2'] }
  await ask('fine.test')
  t.match(receiver.requests[0]?.headers, {
    host: `fine.test:${receiver.port}`,
    'user-agent': 'Postrider',
    'accept-encoding': 'identity',
    connection: 'close',
    'content-length': '2',
  })
})

t.test('an untrusted certificate is refused', async (t) => {
  const { createServer: createTls } = await import('node:https')
  const { ensureCertificate, readConfig } = await import('@postrider/core')
  const folder = t.testdir({})
  const { cert, key } = await ensureCertificate(readConfig({ DATA_DIR: folder }))
  const server = createTls({ cert, key }, (_request, response) => response.end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const http = createOutboundHttp({ dnsServers: [], outboundNetworks: ['127.0.0.0/8', '::1'], outboundPorts: [] })
  t.equal(await failureOf(http.request({ url: `https://localhost:${port}/`, method: 'POST' })), 'tls')
})

t.test('a request is given up when told to', async (t) => {
  const { receiver, dns } = await internet(t)
  dns.zones['fine.test'] = { a: ['127.0.0.2'] }
  receiver.react = () => {}
  const http = createOutboundHttp({
    dnsServers: [dns.address],
    outboundNetworks: ['127.0.0.2'],
    outboundPorts: [],
  })
  const url = `http://fine.test:${receiver.port}/`
  const stop = new AbortController()
  setTimeout(() => stop.abort(), 100)
  t.equal(await failureOf(http.request({ url, method: 'POST', signal: stop.signal })), 'stopped')
  t.equal(await failureOf(http.request({ url, method: 'POST', timeoutMs: 200 })), 'timeout')
  dns.zones['mute.test'] = { fails: 'silence' }
  const mute = `http://mute.test:${receiver.port}/`
  t.equal(await failureOf(http.request({ url: mute, method: 'POST', timeoutMs: 200 })), 'timeout')
})

t.test('a host that sends interim answers without end is given up at once', async (t) => {
  const interim = 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000)
  let sent = 0
  const server = createServer((socket) => {
    const flood = (): void => {
      while (!socket.destroyed && socket.write(interim)) sent += 1000
      socket.once('drain', flood)
    }
    socket.on('error', () => {})
    socket.once('data', flood)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const http = createOutboundHttp({ dnsServers: [], outboundNetworks: ['127.0.0.0/8'], outboundPorts: [] })
  t.equal(await failureOf(http.request({ url: `http://127.0.0.1:${port}/`, method: 'POST' })), 'answer')
  t.ok(sent < 1_000_000, `${sent}`)
})

t.test('some interim answers are passed over', async (t) => {
  const server = createServer((socket) => {
    socket.once('data', () =>
      socket.end(`${'HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n'.repeat(3)}HTTP/1.1 204 No Content\r\n\r\n`),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const http = createOutboundHttp({ dnsServers: [], outboundNetworks: ['127.0.0.0/8'], outboundPorts: [] })
  t.equal((await http.request({ url: `http://127.0.0.1:${port}/`, method: 'POST' })).status, 204)
})
