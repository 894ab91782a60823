import t from 'tap'
import { startSink } from '../helpers/sink.ts'
import { until } from '../helpers/until.ts'
import { openSession, queueId } from '../relay/session.ts'
import { startOutbox } from './outbox.ts'
import { trackedOf } from './tracked.ts'

const ADVICE = '; send as an active domain, or set fallbackSender of the account'
const sink = await startSink(t)
const outbox = await startOutbox(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
const { service, sender } = outbox
const { copy, verdict } = trackedOf(outbox, sink)
await service.openRelay()
const { domain, accountId } = sender
const BY = { keyId: null, address: null }

async function submit(mailFrom: string, fields: string): Promise<string> {
  const client = await openSession(t, service, sender)
  const reply = await client.command(`MAIL FROM:<${mailFrom}>`)
  if (!reply.startsWith('250')) return reply
  await client.command('RCPT TO:<lena@harbor.example>')
  await client.command('DATA')
  return client.finish(`${fields}Subject: Cron <root@web1> backup\r\n\r\nDone.\r\n`)
}

async function arrived(reply: string): Promise<{ data: string; signed: string }> {
  const { data } = await copy(queueId(reply))
  return { data: data.toString(), signed: await verdict(sender, data) }
}

t.test('without one, the 550 names the domain, the setting, and the other remedy', async (t) => {
  t.equal(
    await submit('root@web1.corp.test', 'From: root@web1.corp.test\r\n'),
    `550 5.7.1 Sender domain not active: web1.corp.test in MAIL FROM${ADVICE}`,
  )
})

t.test('a fallback sender has to be an address at an active domain of the account', async (t) => {
  const set = (fallbackSender: string) => service.core.accounts.settings.change(accountId, { fallbackSender }, BY)
  await service.core.domains.add({ accountId, name: 'pending.example' })
  const stranger = await service.makeSender()
  for (const address of ['machines@pending.example', `machines@${stranger.domain}`, `machines@web1.${domain}`])
    await t.rejects(set(address), {
      message: /\[fallbackSender\] is invalid: must be an address at an active domain of the account/,
    })
  await t.rejects(set('machines'), { message: /\[fallbackSender\] is invalid: must be an email address/ })
  t.match(await set(`Machines@${domain.toUpperCase()}`), { fallbackSender: `Machines@${domain}` })
  const probe = async () => (await submit('root@web1.corp.test', 'From: root@web1.corp.test\r\n')).startsWith('250')
  await until('the setting', probe, 5000)
})

t.test('with it, a host without a domain sends as it: its name stays, and replies go to the host', async (t) => {
  const reply = await submit('root@web1.corp.test', 'From: Cron Daemon <root@web1.corp.test>\r\n')
  t.match(reply, `From was changed to Machines@${domain}`)
  const { data, signed } = await arrived(reply)
  t.match(data, `From: Cron Daemon <Machines@${domain}>\r\nReply-To: root@web1.corp.test\r\n`)
  t.equal(signed, `pass ${domain}`)
})

t.test('only one of MAIL FROM and From may be at such a host, and a Reply-To stays', async (t) => {
  const fields = `From: root@web1.corp.test\r\nReply-To: admin@corp.test\r\n`
  const { data } = await arrived(await submit(`desk@${domain}`, fields))
  t.match(data, `From: Machines@${domain}\r\n`)
  t.strictSame(data.match(/^Reply-To:.*/gm), ['Reply-To: admin@corp.test'])
  const own = await arrived(await submit('root@web1.corp.test', `From: Desk <desk@${domain}>\r\n`))
  t.match(own.data, `From: Desk <desk@${domain}>\r\n`)
  t.notMatch(own.data, /^Reply-To:/m)
})

t.test('a domain that the account has added is not replaced: the reply says what it lacks', async (t) => {
  t.match(
    await submit('root@pending.example', 'From: root@pending.example\r\n'),
    /^550 .* is added but not verified yet/,
  )
  t.match(await submit(`desk@${domain}`, 'From: root@pending.example\r\n'), /^550 .* is added but not verified yet/)
})

t.test('it is for SMTP only', async (t) => {
  await t.rejects(
    outbox.send('lena@harbor.example', { from: { fromEmail: 'root@web1.corp.test' } }),
    /not a sending domain/,
  )
})

t.test('when its domain is no longer active, it is not used', async (t) => {
  await service.sql`update domains set state = 'inactive' where name = ${domain}`
  const refused = async () =>
    (await submit('root@web1.corp.test', 'From: root@web1.corp.test\r\n')).startsWith('550 5.7.1')
  await until('the refusal', refused, 8000)
  t.match(await submit(`desk@${domain}`, 'From: root@web1.corp.test\r\n'), /^550 5\.7\.1 /)
})
