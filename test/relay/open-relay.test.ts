import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { connectRelay, openSession, shown } from './session.ts'

const service = await makeService(t)
await service.openRelay()
const sender = await service.makeSender()
const desk = `desk@${sender.domain}`

/** Ways of asking an open relay (RFC 5321 and older habits). */
const OPEN_RELAY = [
  'user@victim.example',
  `user%victim.example@${sender.domain}`,
  `"user@victim.example"@${sender.domain}`,
  `@${sender.domain}:user@victim.example`,
  `@${sender.domain},@a.example:user@victim.example`,
  'victim.example!user',
  `victim.example!user@${sender.domain}`,
  `${sender.domain}!user@victim.example`,
  '"user@victim.example"',
  'user%victim.example',
  'user@[192.0.2.1]',
  'user@[IPv6:2001:db8::1]',
  `user@victim.example@${sender.domain}`,
  'user@localhost',
  'user',
  'postmaster',
  '',
  `user%victim.example%${sender.domain}`,
  '<user@victim.example>',
  'smtp:user@victim.example',
]

t.test('RCPT TO:<postmaster> without a domain means the postmaster of the relay (RFC 5321 4.1.1.3)', async (t) => {
  for (const to of ['postmaster', 'Postmaster']) {
    const client = await openSession(t, service, sender)
    const reply = await client.submit(desk, to, `From: ${desk}\r\n\r\nhello\r\n`)
    t.match((await shown(service, reply)).deliveries, [{ recipient: `${to}@relay.test` }])
  }
})

t.test('another recipient without a domain, such as root of cron, is at the domain of MAIL FROM', async (t) => {
  for (const to of ['root', 'MAILER-DAEMON', 'ops.team+cron']) {
    const client = await openSession(t, service, sender)
    const reply = await client.submit(desk, to, `From: ${desk}\r\nTo: root\r\n\r\nhello\r\n`)
    t.match((await shown(service, reply)).deliveries, [{ recipient: `${to}@${sender.domain}` }])
  }
})

t.test('a name for people, and a user of a machine in a bounce, are not valid recipients', async (t) => {
  const client = await openSession(t, service, sender)
  await client.command(`MAIL FROM:<${desk}>`)
  for (const to of ['Lena', 'Lena Quay', '"root"', 'root@', 'root.', 'größe', '=?utf-8?q?root?='])
    t.match(await client.command(`RCPT TO:<${to}>`), /^501 /, to)
  await client.command('RSET')
  t.match(await client.command('MAIL FROM:<>'), /^250 /)
  t.match(await client.command('RCPT TO:<root>'), /^501 /, 'the domain of the last transaction is not used')
})

for (const to of OPEN_RELAY) {
  t.test(`without AUTH, RCPT TO:<${to}> gets 530 whatever the sender is`, async (t) => {
    const client = await connectRelay(t, service, { tls: true })
    await client.command('EHLO client.test')
    for (const from of ['', desk, 'user@victim.example', 'postmaster@localhost']) {
      t.match(await client.command(`MAIL FROM:<${from}>`), /^530 5\.7\.0 /)
    }
    t.match(await client.command(`RCPT TO:<${to}>`), /^530 5\.7\.0 /)
    t.match(await client.command('DATA'), /^530 5\.7\.0 /)
  })
}
