import t from 'tap'
import { startSink } from '../helpers/sink.ts'
import { openSession, queueId } from '../relay/session.ts'
import { startOutbox } from './outbox.ts'
import { trackedOf } from './tracked.ts'

const ADVICE = '; send as an active domain, or set fallbackSender of the account'
const sink = await startSink(t)
const outbox = await startOutbox(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
const { service, sender } = outbox
const { copy, verdict } = trackedOf(outbox, sink)
await service.openRelay()
const { domain } = sender
const { accountId: strangerId } = await service.makeSender()

const notice = (from: string, fields = ''): string =>
  `${fields}From: ${from}\r\nSubject: Undelivered Mail Returned to Sender\r\n\r\nNo such user.\r\n`

async function submit(from: string, to: string | string[], fields = ''): Promise<string> {
  const client = await openSession(t, service, sender)
  return client.submit('', to, notice(from, fields))
}

interface Arrived {
  readonly mailFrom: string
  readonly data: string
  readonly signed: string
}

/** The message as it was on the wire, and the domain of its valid signature. */
async function arrived(reply: string): Promise<Arrived> {
  const { data, from } = await copy(queueId(reply))
  return { mailFrom: from, data: data.toString(), signed: await verdict(sender, data) }
}

t.test('a notice from a host below an active domain is sent as it is, signed by the domain', async (t) => {
  const from = `Mail Delivery System <MAILER-DAEMON@web1.${domain}>`
  const { mailFrom, data, signed } = await arrived(await submit(from, 'lena@harbor.example'))
  t.equal(mailFrom, '')
  t.match(data, `From: ${from}\r\n`)
  t.notMatch(data, /^Reply-To:/m)
  t.equal(signed, `pass ${domain}`)
})

t.test('a notice of any other host to addresses of the account is sent from their domain', async (t) => {
  const from = 'Mail Delivery System <MAILER-DAEMON@web1.corp.test>'
  const reply = await submit(from, [`root@${domain}`, `alice@${domain}`])
  t.match(reply, `(From was changed to MAILER-DAEMON@${domain})`)
  const { data, signed } = await arrived(reply)
  t.match(data, `From: Mail Delivery System <MAILER-DAEMON@${domain}>\r\nReply-To: MAILER-DAEMON@web1.corp.test\r\n`)
  t.equal(signed, `pass ${domain}`)
})

t.test('its Reply-To stays, if it has one', async (t) => {
  const reply = await submit('MAILER-DAEMON@web1.corp.test', `root@${domain}`, 'Reply-To: admin@corp.test\r\n')
  const { data } = await arrived(reply)
  t.match(data, `From: MAILER-DAEMON@${domain}\r\n`)
  t.strictSame(data.match(/^Reply-To:.*/gm), ['Reply-To: admin@corp.test'])
})

t.test('a notice of a foreign host to others, or to some others, is refused', async (t) => {
  const refused = `550 5.7.1 Sender domain not active: web1.corp.test in the From field${ADVICE}`
  const from = 'MAILER-DAEMON@web1.corp.test'
  t.equal(await submit(from, 'lena@harbor.example'), refused)
  t.equal(await submit(from, [`root@${domain}`, 'lena@harbor.example']), refused)
})

t.test('a host below a domain of another account is none of this one', async (t) => {
  const name = `web2.${domain}`
  await service.core.domains.add({ accountId: strangerId, name, state: 'active' })
  for (const host of [name, `a.${name}`]) {
    t.equal(
      await submit(`MAILER-DAEMON@${host}`, 'lena@harbor.example'),
      `550 5.7.1 Sender domain not active: ${host} in the From field${ADVICE}`,
    )
  }
  await service.core.domains.add({ accountId: strangerId, name: `web3.${domain}` })
  queueId(await submit(`MAILER-DAEMON@web3.${domain}`, 'lena@harbor.example'))
})

t.test('nor is one whose name has more labels than are looked up', async (t) => {
  const host = `${'a.'.repeat(9)}${domain}`
  t.match(await submit(`MAILER-DAEMON@${host}`, 'lena@harbor.example'), /^550 5\.7\.1 Sender domain not active/)
})

t.test('a key that is restricted to the domain may send such notices; one restricted to another may not', async (t) => {
  const { auth } = service.core
  const ask = async (senderDomains: string[]): Promise<string> => {
    const { secret } = await auth.createKey({ accountId: sender.accountId, restrictions: { senderDomains } })
    const client = await openSession(t, service, { apiKey: secret })
    return client.submit('', 'lena@harbor.example', notice(`MAILER-DAEMON@web1.${domain}`))
  }
  queueId(await ask([domain]))
  await service.core.domains.add({ accountId: sender.accountId, name: 'quay.example', state: 'active' })
  t.match(await ask(['quay.example']), /^550 5\.7\.1 This api_key is not allowed to send from this domain/)
})
