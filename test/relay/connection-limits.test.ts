import { createLog, ensureCertificate } from '@postrider/core'
import { createRelay } from '@postrider/relay'
import t from 'tap'
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

const isGreeted = ({ greeting }: { greeting: string }): boolean => greeting.startsWith('220 ')
const TOO_MANY = /^421 4\.7\.0 Too many connections from your network/

/** Moves the relay's stopwatch: it runs in this process. */
function waitSeconds(seconds: number): void {
  const now = performance.now.bind(performance)
  Object.defineProperty(performance, 'now', { value: () => now() + seconds * 1000, configurable: true })
}

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

t.test(
  'trusted networks and load balancers are not limited; when connections are scarce, whoever has not authenticated for half a minute is ended',
  async (t) => {
    const trusted = await fill(700, () => '127.7.0.1')
    const behind = await fill(850, () => '127.8.0.1')
    t.ok([...trusted, ...behind].every(isGreeted))
    const { client: own } = await connectFrom('127.4.0.1')
    await own.command('EHLO client.test')
    await own.startTls()
    await own.logIn(sender.apiKey)
    waitSeconds(31)
    t.match(await Promise.any(behind.map(({ client }) => client.reply())), /^421 4\.7\.0 Session too long/)
    t.match(await trusted[0]?.client.command('NOOP'), /^250 /, 'a trusted client need not authenticate')
    t.match(await own.command('NOOP'), /^250 /)
    for (const { client } of [...trusted, ...behind]) client.destroy()
  },
)
