import { createSocket } from 'node:dgram'
import { defaultProviders } from '@postrider/core'
import dnsPacket from 'dns-packet'
import t from 'tap'
import { createDane } from '../../packages/core/src/delivery/tls/dane.ts'
import { readConfig } from '../../packages/core/src/platform/config/config.ts'
import { createDnssec, type Dnssec } from '../../packages/core/src/platform/net/dnssec/index.ts'
import type { Log } from '../../packages/core/src/platform/process/log.ts'
import { createMx, type Mx } from '../../packages/delivery/src/routing/mx.ts'
import { postrider } from '../cli/postrider.ts'
import { startDns } from '../helpers/dns.ts'
import { passTime } from '../helpers/pass-time.ts'
import { until } from '../helpers/until.ts'
import { selfSigned } from './authority.ts'
import { startInternet } from './outbox.ts'
import { startTlsServer } from './tls-server.ts'

const WRONG = `3 1 1 ${'ab'.repeat(32)}`

/** A resolver by its address, with what was logged of it. */
function dnssecOf(address: string) {
  const logged: string[] = []
  const note = (_fields: unknown, text: string): void => void logged.push(text)
  const log = { info: note, error: note } as unknown as Log
  const { dnssecResolver } = readConfig({ DNSSEC_RESOLVER: address })
  return { logged, ...createDnssec({ config: { dnssecResolver }, log }) }
}

/** What the worker asks, with this resolver. */
function mxWith(address: string, dnssec: Dnssec): Mx {
  const { dnsServers } = readConfig({ DNS_SERVERS: address })
  const config = { dnsServers, allowPrivateMx: true, heloName: 'mail.ship.example' }
  const tls = { sts: { policyOf: async () => undefined }, dnssec, dane: createDane({ dnssec, mxPort: 25 }) }
  return createMx({ config, providers: defaultProviders(), tls })
}

for (const isSigned of [true, false]) {
  t.test(
    `a resolver that ${isSigned ? 'validates' : 'does not validate'} is ${isSigned ? 'used' : 'not used'}`,
    async (t) => {
      const internet = await startInternet(t, {}, { isSigned: () => isSigned })
      const name = 'mx.harbor.example'
      const context = await selfSigned(name)
      const server = await startTlsServer(t, { host: internet.newAddress(), port: internet.port }, { context })
      internet.dns.zones[name] = { a: [server.host] }
      internet.dns.zones[`_${internet.port}._tcp.${name}`] = { tlsa: [WRONG] }
      const domain = internet.domain([{ name }])
      const { attempts } = await internet.attempted(await internet.send(`a@${domain}`))
      t.match(attempts, [
        isSigned ? { outcome: 'deferred', tlsPolicy: 'dane' } : { outcome: 'delivered', tlsPolicy: null },
      ])
      const { stdout } = await postrider(internet.service.env, 'tls', 'show', domain)
      t.match(
        stdout,
        isSigned ? /^DNSSEC_RESOLVER validates$/m : /^DANE is not used: DNSSEC_RESOLVER does not validate$/m,
      )
      const { logged, check } = dnssecOf(internet.dns.address)
      for (let time = 0; time < 2; time++) t.equal(await check(), isSigned ? 'validates' : 'does-not')
      const message = isSigned
        ? 'DNSSEC_RESOLVER validates: DANE is used'
        : 'DNSSEC_RESOLVER does not validate the root zone: DANE is not used'
      t.strictSame(logged, [message], 'once')
    },
  )
}

t.test('mail waits while the resolver does not answer, and is delivered when it does', async (t) => {
  const internet = await startInternet(t, {}, { isSigned: () => true })
  const root = internet.dns.zones['.'] ?? {}
  const host = await internet.host(t)
  internet.dns.zones['.'] = { fails: 'silence' }
  const domain = internet.domain([host])
  const id = await internet.send(`a@${domain}`)
  const { attempts } = await internet.attempted(id)
  t.match(attempts, [{ outcome: 'deferred', enhanced: '4.4.3', reply: /the DNSSEC resolver does not answer/ }])
  internet.dns.zones['.'] = root
  passTime(10_500)
  await internet.advance(2)
  await internet.inState(id, 'delivered')
})

t.test('a response with another id or question is not taken, nor are many of them', async (t) => {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  t.teardown(() => socket.close())
  let forged = 3
  socket.on('message', (packet, from) => {
    const { id = 0, questions = [] } = dnsPacket.decode(packet)
    const name = questions[0]?.name ?? ''
    const respond = (idOf: number, asked: string, ns: string): void => {
      const response = dnsPacket.encode({
        type: 'response',
        id: idOf,
        flags: dnsPacket.AUTHENTIC_DATA,
        questions: [{ type: 'NS', name: asked }],
        answers: [{ type: 'NS', name: asked, ttl: 60, data: ns }],
      })
      socket.send(response, from.port, from.address)
    }
    for (let count = 0; count < forged; count++) {
      respond((id + 1 + count) & 0xffff, name, 'forged.example')
      respond(id, 'forged.example', 'forged.example')
      socket.send(packet.subarray(0, 2 + count), from.port, from.address)
      // The query itself is no response.
      socket.send(packet, from.port, from.address)
    }
    respond(id, name, 'right.example')
  })
  const { query } = dnssecOf(`127.0.0.1:${socket.address().port}`)
  t.match(await query('NS', 'zone.example'), { kind: 'records', values: ['right.example'], isSecure: true })
  forged = 10
  t.match(await query('NS', 'zone.example'), { kind: 'failed', problem: /too many responses that do not match/ })
})

t.test('responses are followed along ten CNAME records, and never in a circle', async (t) => {
  const dns = await startDns(t, {}, { isSigned: () => true })
  for (let at = 0; at < 10; at++) dns.zones[`a${at}.example`] = { cname: `a${at + 1}.example` }
  dns.zones['a10.example'] = { a: ['192.0.2.1'] }
  const { query } = dnssecOf(dns.address)
  t.match(await query('A', 'A0.example'), { kind: 'records', name: 'a10.example', values: ['192.0.2.1'] })
  t.match(await query('A', 'none.example'), { kind: 'none', exists: false, isSecure: true })
  t.match(await query('MX', 'a10.example'), { kind: 'none', exists: true, isSecure: true })
  for (const name of ['a..example', `${'a'.repeat(64)}.example`, 'ü.example', `${'a.'.repeat(127)}example`])
    t.match(await query('A', name), { kind: 'failed', problem: 'not a valid name' })
})

t.test('the address of the resolver is an IP address on this host or a private network', async (t) => {
  for (const [text, expected] of [
    ['127.0.0.1', { address: '127.0.0.1', port: 53 }],
    ['10.1.2.3:5353', { address: '10.1.2.3', port: 5353 }],
    ['::1', { address: '::1', port: 53 }],
    ['[fd00::1]:5353', { address: 'fd00::1', port: 5353 }],
    ['[::1]', { address: '::1', port: 53 }],
  ] as const)
    t.strictSame(readConfig({ DNSSEC_RESOLVER: text }).dnssecResolver, expected, text)
  for (const text of ['localhost', '127.0.0.1:0', '127.0.0.1:65536', '127.0.0.1:', '[::1]:x', '127.0.0.1, 127.0.0.2'])
    t.throws(
      () => readConfig({ DNSSEC_RESOLVER: text }),
      { message: /must be an IP address with an optional port/ },
      text,
    )
  for (const text of ['8.8.8.8', '[2001:4860:4860::8888]:53'])
    t.throws(() => readConfig({ DNSSEC_RESOLVER: text }), { message: /must be on this host or on a private network/ })
  t.equal(readConfig({}).dnssecResolver, undefined)
  t.equal(await until('nothing', async () => dnssecOf('127.0.0.1:1').state()), 'silent')
})

t.test('mail of one account to many domains delays the lookups for another by few', async (t) => {
  const server = await startDns(t, { '.': { ns: ['a.root.example'] } }, { isSigned: () => true })
  const dnssec = dnssecOf(server.address)
  const mx = mxWith(server.address, dnssec)
  t.equal(await dnssec.check(), 'validates')
  const names = Array.from({ length: 2000 }, (_, at) => `many${at}.example`)
  for (const name of [...names, 'one.example']) {
    server.zones[name] = { mx: [[10, `mx.${name}`]] }
    server.zones[`mx.${name}`] = { a: ['192.0.2.1'] }
  }
  let found = 0
  const all = names.map(async (name) => {
    await mx.of(name, 1)
    found++
  })
  t.match(await mx.of('one.example', 2), { kind: 'hosts', hosts: [{ name: 'mx.one.example' }] })
  t.ok(found < 1000, `${found} of the other account before it`)
  await Promise.all(all)
})
