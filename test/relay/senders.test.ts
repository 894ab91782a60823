import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { mail, NOTHING, openSession, queueId, stored } from './session.ts'

const service = await makeService(t)
await service.openRelay()
const sender = await service.makeSender()
const stranger = await service.makeSender()
const desk = `desk@${sender.domain}`
const LENA = 'RCPT TO:<lena@harbor.example>'

const ADVICE = '; send as an active domain, or set fallbackSender of the account'
const NOT_VERIFIED = 'is added but not verified yet; publish its DNS records'

/** Senders this account may not use. */
const FOREIGN = [
  `desk@${stranger.domain}`,
  'desk@unknown.example',
  `desk@sub.${sender.domain}`,
  `desk@${sender.domain}.unknown.example`,
  `desk%${sender.domain}@unknown.example`,
  `unknown.example!desk@${stranger.domain}`,
  `"desk@${sender.domain}"@unknown.example`,
  `@${sender.domain}:desk@unknown.example`,
  `desk@x${sender.domain}`,
  'postmaster@localhost',
  'desk@example',
  `desk@${sender.domain.replace('ship', 'ѕhip')}`,
]

for (const from of FOREIGN) {
  t.test(`MAIL FROM:<${from}> is refused: the domain is not an active one of the account`, async (t) => {
    const client = await openSession(t, service, sender)
    const reply = await client.command(`MAIL FROM:<${from}> SMTPUTF8`)
    t.match(
      reply,
      new RegExp(
        `^550 5\\.7\\.1 Sender domain not active: (MAIL FROM has no valid address|[a-z0-9.-]+ in MAIL FROM${ADVICE})$`,
      ),
    )
    t.match(await client.command(LENA), /^503 /)
  })

  t.test(`a From header of ${from} is refused, though MAIL FROM was the account's own`, async (t) => {
    const before = await stored(service, sender)
    const client = await openSession(t, service, sender)
    const reply = await client.submit(desk, 'lena@harbor.example', `From: <${from}>\r\nSubject: s\r\n\r\nhello\r\n`)
    t.match(reply, /^550 5\.(7\.1 Sender domain not active: [a-z0-9.-]+ in the From field; send as|6\.0 )/)
    t.strictSame(await stored(service, sender), before)
  })
}

t.test('a domain that waits for verification may not send, by MAIL FROM or by From', async (t) => {
  const own = await service.makeSender()
  await service.core.domains.add({ accountId: own.accountId, name: 'pending.example' })
  const client = await openSession(t, service, own)
  t.equal(
    await client.command('MAIL FROM:<desk@pending.example>'),
    `550 5.7.1 Sender domain not active: pending.example in MAIL FROM ${NOT_VERIFIED}`,
  )
  const reply = await client.submit(
    `desk@${own.domain}`,
    'lena@harbor.example',
    mail({ ...own, domain: 'pending.example' }),
  )
  t.equal(reply, `550 5.7.1 Sender domain not active: pending.example in the From field ${NOT_VERIFIED}`)
  t.strictSame(await stored(service, own), NOTHING)
})

t.test('MAIL FROM and From may name two active domains of one account, and case does not count', async (t) => {
  const own = await service.makeSender()
  await service.core.domains.add({ accountId: own.accountId, name: `two.${own.domain}`, state: 'active' })
  const client = await openSession(t, service, own)
  const other = { ...own, domain: `Two.${own.domain.toUpperCase()}` }
  queueId(await client.submit(`bounces@${own.domain}`, 'lena@harbor.example', mail(other)))
})

t.test('a subaccount sends by SMTP from a domain its parent shares', async (t) => {
  const parent = await service.makeSender()
  const child = await service.makeSender()
  await service.sql`update accounts set parent_id = ${parent.accountId}, username = 'child' where id = ${child.accountId}`
  const client = await openSession(t, service, child)
  const submit = () => client.submit(`desk@${parent.domain}`, 'lena@harbor.example', mail(parent))
  await t.rejects(submit(), /550 5\.7\.1 Sender domain not active: \S+ in MAIL FROM; send as/)
  const by = { keyId: null, address: null }
  await service.core.domains.share(parent.accountId, { name: parent.domain, shared: true }, by)
  queueId(await submit())
})

t.test('the null sender does not make another domain’s From acceptable', async (t) => {
  const client = await openSession(t, service, sender)
  const reply = await client.submit('', 'lena@harbor.example', mail(stranger))
  t.equal(reply, `550 5.7.1 Sender domain not active: ${stranger.domain} in the From field${ADVICE}`)
})
