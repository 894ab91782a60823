import { createLog, ensureCertificate } from '@postrider/core'
import { createRelay } from '@postrider/relay'
import t from 'tap'
import { passTime } from '../helpers/pass-time.ts'
import { freePorts } from '../helpers/ports.ts'
import { makeService } from '../helpers/service.ts'
import { SmtpClient } from '../helpers/smtp-client.ts'
import { mail, shown } from './session.ts'

const service = await makeService(t)
const sender = await service.makeSender()
const other = await service.makeSender()
const { key, secret } = await service.core.auth.createKey({ accountId: sender.accountId })
const [relayPort = 0, relayTlsPort = 0] = await freePorts(2)
const config = {
  ...service.config,
  relayPort,
  relayTlsPort,
  relayTrusted: { networks: ['127.0.0.1', '127.7.0.0/16'], apiKey: secret },
}
const certificate = await ensureCertificate(config)
const relay = createRelay({ core: service.core, config, log: createLog('test', 'silent'), certificate })
await relay.listen()
t.teardown(() => relay.close())

async function open(t: Parameters<typeof SmtpClient.connect>[0], from: string, tls = false): Promise<SmtpClient> {
  const client = await SmtpClient.connect(t, { port: tls ? relayTlsPort : relayPort, tls, from })
  await client.reply()
  await client.command('EHLO client.test')
  return client
}

for (const from of ['127.0.0.1', '127.7.9.9']) {
  t.test(
    `a client at ${from}, in a trusted network, sends without AUTH as the account of the trusted key`,
    async (t) => {
      const client = await open(t, from)
      const reply = await client.submit(`desk@${sender.domain}`, 'lena@harbor.example', mail(sender))
      t.match(await shown(service, reply), { accountId: sender.accountId, door: 'smtp' })
    },
  )
}

for (const tls of [false, true]) {
  t.test(`a client outside gets 530 ${tls ? 'over TLS' : 'in plain text'}`, async (t) => {
    const client = await open(t, '127.0.0.2', tls)
    t.match(await client.command(`MAIL FROM:<desk@${sender.domain}>`), /^530 5\.7\.0 /)
    t.match(await client.command('RCPT TO:<lena@harbor.example>'), /^530 5\.7\.0 /)
    t.match(await client.command('DATA'), /^530 5\.7\.0 /)
  })
}

t.test('a trusted client sends only from domains of the trusted account', async (t) => {
  const client = await open(t, '127.0.0.1')
  t.match(await client.command(`MAIL FROM:<desk@${other.domain}>`), /^550 5\.7\.1 /)
})

t.test('a trusted client that authenticates sends as who it says', async (t) => {
  const client = await open(t, '127.0.0.1', true)
  await client.logIn(other.apiKey)
  const reply = await client.submit(`desk@${other.domain}`, 'lena@harbor.example', mail(other))
  t.match(await shown(service, reply), { accountId: other.accountId })
})

t.test(
  'when the trusted key loses the scope send, trusted clients are refused at MAIL and DATA within five seconds',
  async (t) => {
    const client = await open(t, '127.0.0.1')
    const midway = await open(t, '127.0.0.1')
    await midway.begin(`desk@${sender.domain}`, 'lena@harbor.example')
    await service.core.auth.updateKey(key.id, { scopes: ['events'] })
    passTime(3500)
    t.match(await client.command(`MAIL FROM:<desk@${sender.domain}>`), /^550 5\.7\.1 /)
    t.match(await midway.finish(mail(sender)), /^550 5\.7\.1 /)
    await service.core.auth.updateKey(key.id, { scopes: ['send'] })
  },
)

t.test('when the trusted key is revoked, trusted clients are refused within five seconds', async (t) => {
  const client = await open(t, '127.0.0.1')
  await service.core.auth.revokeKey(key.id)
  passTime(3500)
  t.match(await client.command(`MAIL FROM:<desk@${sender.domain}>`), /^535 /)
})
