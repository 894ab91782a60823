import { connect, type Socket } from 'node:net'
import { createLog, ensureCertificate } from '@postrider/core'
import { createRelay } from '@postrider/relay'
import t from 'tap'
import { passTime } from '../helpers/pass-time.ts'
import { freePorts } from '../helpers/ports.ts'
import { makeService } from '../helpers/service.ts'
import { SmtpClient } from '../helpers/smtp-client.ts'
import { until } from '../helpers/until.ts'

const service = await makeService(t)
const sender = await service.makeSender()
const { secret } = await service.core.auth.createKey({ accountId: sender.accountId })
const [relayPort = 0, relayTlsPort = 0] = await freePorts(2)
const config = {
  ...service.config,
  relayPort,
  relayTlsPort,
  relayTrusted: { networks: ['127.7.0.0/16'], apiKey: secret },
  trustProxy: ['127.8.0.1'],
}
const certificate = await ensureCertificate(config)
const relay = createRelay({ core: service.core, config, log: createLog('test', 'silent'), certificate })
await relay.listen()
t.teardown(() => relay.close())

async function connectFrom(from: string, tls = false): Promise<{ client: SmtpClient; greeting: string }> {
  const client = await SmtpClient.connect(t, { port: tls ? relayTlsPort : relayPort, tls, from })
  return { client, greeting: await client.reply() }
}

/** As many connections from these addresses in turn. */
async function fill(
  count: number,
  addressOf: (at: number) => string,
): Promise<{ client: SmtpClient; greeting: string }[]> {
  return Promise.all(Array.from({ length: count }, (_, at) => connectFrom(addressOf(at))))
}

/** A socket to the port with TLS from the start that never begins its handshake. */
async function openSilent(from: string): Promise<Socket> {
  const socket = connect({ port: relayTlsPort, host: '127.0.0.1', localAddress: from })
  t.teardown(() => socket.destroy())
  socket.on('error', () => {})
  socket.resume()
  await new Promise((resolve) => socket.once('connect', resolve))
  return socket
}
const openSilents = (count: number, from: string): Promise<Socket[]> =>
  Promise.all(Array.from({ length: count }, () => openSilent(from)))
const isClosed = (socket: Socket): Promise<boolean> =>
  until('the socket to be closed', () => socket.closed, 5000).catch(() => false)

/** As many sessions that have authenticated, over TLS. */
async function fillAuthenticated(count: number, from: string): Promise<SmtpClient[]> {
  const clients: SmtpClient[] = []
  while (clients.length < count) {
    const some = await Promise.all(
      Array.from({ length: Math.min(50, count - clients.length) }, async () => {
        const { client } = await connectFrom(from, true)
        await client.logIn(sender.apiKey)
        return client
      }),
    )
    clients.push(...some)
  }
  return clients
}

const isGreeted = ({ greeting }: { greeting: string }): boolean => greeting.startsWith('220 ')
const TOO_MANY = /^421 4\.7\.0 Too many connections from your network/

t.test('one client has at most 400 connections that have not authenticated, and others still connect', async (t) => {
  const { client: own } = await connectFrom('127.2.0.1', true)
  await own.logIn(sender.apiKey)
  const clients = await fill(400, () => '127.2.0.1')
  t.ok(clients.every(isGreeted), 'the one that has authenticated does not count')
  t.match((await connectFrom('127.2.0.1')).greeting, TOO_MANY)
  t.match((await connectFrom('127.2.0.1', true)).greeting, TOO_MANY, 'both ports together')
  t.match((await connectFrom('127.2.0.2')).greeting, /^220 /)
  t.match(await own.command('NOOP'), /^250 /)
  clients[0]?.client.destroy()
  await until('a connection to be counted as closed', async () => isGreeted(await connectFrom('127.2.0.1')))
  for (const { client } of clients) client.destroy()
})

t.test('the /16 of a client has at most 600 of them', async (t) => {
  const clients = await fill(600, (at) => `127.3.0.${at % 3}`)
  t.ok(clients.every(isGreeted))
  t.match((await connectFrom('127.3.9.9')).greeting, TOO_MANY)
  for (const { client } of clients) client.destroy()
})

t.test('one client has at most 1,000 connections that have authenticated, and its /16 at most 1,500', async (t) => {
  const clients = await fillAuthenticated(1000, '127.5.0.1')
  t.match((await connectFrom('127.5.0.1')).greeting, TOO_MANY)
  t.match((await connectFrom('127.5.0.1', true)).greeting, TOO_MANY)
  t.match(await clients[0]?.command('NOOP'), /^250 /)
  const others = await fillAuthenticated(500, '127.5.0.2')
  t.match((await connectFrom('127.5.0.3')).greeting, TOO_MANY, 'another client of the /16')
  t.match((await connectFrom('127.6.0.1')).greeting, /^220 /, 'a client of another one')
  others[0]?.destroy()
  await until('room in the /16', async () => isGreeted(await connectFrom('127.5.0.3')))
  t.match((await connectFrom('127.5.0.1')).greeting, TOO_MANY, 'the client itself still has 1,000')
  clients[1]?.destroy()
  await until('room for the client', async () => isGreeted(await connectFrom('127.5.0.1')))
  for (const client of [...clients, ...others]) client.destroy()
})

t.test('a client of a network that sends without a password has as many, and leaves room for others', async (t) => {
  const { core } = service
  const { key } = await core.auth.createKey({ accountId: sender.accountId })
  await core.relayNetworks.add({ network: '127.11.0.0/16', keyId: key.id, requiresTls: false })
  await core.relayNetworks.find('127.11.0.1')
  const clients = await fill(1000, () => '127.11.0.1')
  t.ok(clients.every(isGreeted))
  t.match((await connectFrom('127.11.0.1')).greeting, TOO_MANY)
  t.match((await connectFrom('127.12.0.1')).greeting, /^220 /)
  clients[0]?.client.destroy()
  await until('room for the client', async () => isGreeted(await connectFrom('127.11.0.1')))
  for (const { client } of clients) client.destroy()
})

t.test('a client has at most 400 sockets that do not finish their TLS handshake, for half a minute', async (t) => {
  const silent = await openSilents(400, '127.9.0.1')
  t.equal(await isClosed(await openSilent('127.9.0.1')), true)
  await t.rejects(connectFrom('127.9.0.1', true), 'nor is another handshake begun')
  t.match((await connectFrom('127.9.0.1')).greeting, /^220 /, 'its sessions are counted by themselves')
  t.match((await connectFrom('127.9.0.2', true)).greeting, /^220 /)
  silent[0]?.destroy()
  await until('room for a handshake', () => connectFrom('127.9.0.1', true).then(isGreeted, () => false))
  const more = await openSilents(201, '127.9.0.3')
  t.equal(await isClosed(await openSilent('127.9.0.4')), true, 'nor has its /16 more than 600')
  t.match((await connectFrom('127.10.0.1', true)).greeting, /^220 /)

  // Some octets of a handshake now and then give no further time.
  more[0]?.write(Buffer.from('\x16\x03\x01\x02\x00\x01\x00', 'latin1'))
  passTime(31_000)
  await until('all to be ended', () => [...silent, ...more].every(({ closed }) => closed))
  t.match((await connectFrom('127.9.0.4', true)).greeting, /^220 /)
})

t.test(
  'trusted networks and load balancers are not limited; when connections are scarce, those without authentication for half a minute are ended',
  async (t) => {
    const trusted = await fill(700, () => '127.7.0.1')
    const behind = await fill(850, () => '127.8.0.1')
    t.ok([...trusted, ...behind].every(isGreeted))
    const { client: own } = await connectFrom('127.4.0.1')
    await own.command('EHLO client.test')
    await own.startTls()
    await own.logIn(sender.apiKey)
    passTime(31_000)
    t.match(await Promise.any(behind.map(({ client }) => client.reply())), /^421 4\.7\.0 Session too long/)
    t.match(await trusted[0]?.client.command('NOOP'), /^250 /, 'a trusted client need not authenticate')
    t.match(await own.command('NOOP'), /^250 /)
    for (const { client } of [...trusted, ...behind]) client.destroy()
  },
)
