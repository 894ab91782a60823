import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { connectRelay, mail, NOTHING, openSession, queueId, shown, stored } from './session.ts'

const service = await makeService(t)
await service.openRelay()
const sender = await service.makeSender()
const stranger = await service.makeSender()
const desk = `desk@${sender.domain}`
const LENA = 'RCPT TO:<lena@harbor.example>'

t.test('the envelope decides who gets a message, and its header does not', async (t) => {
  const client = await openSession(t, service, sender)
  const fields = 'Cc: cc@harbor.example\r\nBcc: bcc@harbor.example\r\n'
  const reply = await client.submit(desk, ['one@harbor.example', 'two@quay.example'], mail(sender, fields))
  const { deliveries, door, from } = await shown(service, reply)
  t.strictSame(
    deliveries.map(({ recipient, kind, state }) => [recipient, kind, state]),
    [
      ['one@harbor.example', 'to', 'queued'],
      ['two@quay.example', 'to', 'queued'],
    ],
  )
  t.strictSame([door, from], ['smtp', desk])
})

t.test('a recipient named twice, in another case too, gets one copy', async (t) => {
  const client = await openSession(t, service, sender)
  const named = ['lena@harbor.example', 'ann@harbor.example', 'Lena@HARBOR.example', '"lena"@harbor.example']
  const { deliveries } = await shown(service, await client.submit(desk, named, mail(sender)))
  t.strictSame(deliveries.map(({ recipient }) => recipient.toLowerCase()).sort(), [
    'ann@harbor.example',
    'lena@harbor.example',
  ])
})

t.test('1,000 recipients are accepted in one transaction, and the 1,001st is answered 452 4.5.3', async (t) => {
  const own = await service.makeSender()
  const client = await openSession(t, service, own)
  t.match(await client.command(`MAIL FROM:<desk@${own.domain}>`), /^250 /)
  const numbers = Array.from({ length: 1001 }, (_, at) => at)
  await client.send(numbers.map((number) => `RCPT TO:<r${number}@harbor.example>\r\n`).join(''))
  const replies = await client.replies(1001)
  t.ok(replies.slice(0, 1000).every((reply) => reply.startsWith('250 2.1.5 ')))
  t.match(replies[1000], /^452 4\.5\.3 /)
  t.match(await client.command('RCPT TO:<r7@harbor.example>'), /^250 /, 'one that is named already is no new one')
  await client.command('DATA')
  queueId(await client.finish(mail(own)))
  t.strictSame(await stored(service, own), { messages: 1, deliveries: 1000 })
})

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
    t.equal(await client.command(`MAIL FROM:<${from}> SMTPUTF8`), '550 5.7.1 Sender domain not active')
    t.match(await client.command(LENA), /^503 /)
  })

  t.test(`a From header of ${from} is refused, though MAIL FROM was the account's own`, async (t) => {
    const client = await openSession(t, service, sender)
    await client.begin(desk, 'lena@harbor.example')
    const reply = await client.finish(`From: <${from}>\r\nSubject: Berth 4\r\n\r\nhello\r\n`)
    t.match(reply, /^550 5\.(7\.1 Sender domain not active|6\.0 )/)
    t.strictSame(await stored(service, sender).then(({ messages }) => messages), await count())
  })
}

let counted: number | undefined
async function count(): Promise<number> {
  return (counted ??= (await stored(service, sender)).messages)
}

t.test('a domain that waits for verification may not send, by MAIL FROM or by From', async (t) => {
  const own = await service.makeSender()
  await service.core.domains.add({ accountId: own.accountId, name: 'pending.example' })
  const client = await openSession(t, service, own)
  t.equal(await client.command('MAIL FROM:<desk@pending.example>'), '550 5.7.1 Sender domain not active')
  const reply = await client.submit(
    `desk@${own.domain}`,
    'lena@harbor.example',
    mail({ ...own, domain: 'pending.example' }),
  )
  t.equal(reply, '550 5.7.1 Sender domain not active')
  t.strictSame(await stored(service, own), NOTHING)
})

t.test('MAIL FROM and From may name two active domains of one account, and case does not count', async (t) => {
  const own = await service.makeSender()
  await service.core.domains.add({ accountId: own.accountId, name: `two.${own.domain}`, state: 'active' })
  const client = await openSession(t, service, own)
  const other = { ...own, domain: `Two.${own.domain.toUpperCase()}` }
  queueId(await client.submit(`bounces@${own.domain}`, 'lena@harbor.example', mail(other)))
})

t.test('the null sender is accepted', async (t) => {
  const client = await openSession(t, service, sender)
  const { from } = await shown(service, await client.submit('', 'lena@harbor.example', mail(sender)))
  t.equal(from, desk)
})

t.test('the null sender does not make another domain’s From acceptable', async (t) => {
  const client = await openSession(t, service, sender)
  t.equal(await client.submit('', 'lena@harbor.example', mail(stranger)), '550 5.7.1 Sender domain not active')
})

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

for (const to of OPEN_RELAY) {
  t.test(`without AUTH, RCPT TO:<${to}> is answered 530 whoever the sender is`, async (t) => {
    const client = await connectRelay(t, service, { tls: true })
    await client.command('EHLO client.test')
    for (const from of ['', desk, 'user@victim.example', 'postmaster@localhost']) {
      t.match(await client.command(`MAIL FROM:<${from}>`), /^530 5\.7\.0 /)
    }
    t.match(await client.command(`RCPT TO:<${to}>`), /^530 5\.7\.0 /)
    t.match(await client.command('DATA'), /^530 5\.7\.0 /)
  })
}

/** What is no path (RFC 5321 4.1.2), and so is answered 501. */
const MALFORMED = [
  'lena@harbor.example',
  '<lena@harbor.example',
  'lena@harbor.example>',
  '<lena>',
  '<@harbor.example>',
  '<lena@>',
  '<lena@@harbor.example>',
  '<lena@harbor..example>',
  '<.lena@harbor.example>',
  '<lena.@harbor.example>',
  '<le..na@harbor.example>',
  '<lena@-harbor.example>',
  '<lena@harbor_.example>',
  '<lena@[192.0.2.1]>',
  '<lena smith@harbor.example>',
  '<"lena@harbor.example>',
  '<lena@harbor.example>x',
  '<lena@harbor.example><ann@harbor.example>',
  '<lena@harbor.example,ann@harbor.example>',
  '<Lena <lena@harbor.example>>',
  '<lena@harbor.example(comment)>',
  '<lena@1.2.3.4>',
  `<${'a'.repeat(65)}@harbor.example>`,
  `<lena@${'a'.repeat(64)}.example>`,
  `<lena@${'abcdefghi.'.repeat(25)}example>`,
  '<lena@xn--a.example>',
]

t.test('malformed addresses are answered 501, at MAIL and at RCPT, and the session goes on', async (t) => {
  const client = await openSession(t, service, sender)
  for (const path of MALFORMED) {
    t.match(await client.command(`MAIL FROM:${path} SMTPUTF8`), /^501 5\.1\.7 /, path)
  }
  t.match(await client.command(`MAIL FROM:<${desk}> SMTPUTF8`), /^250 /)
  for (const path of [...MALFORMED, '<>']) t.match(await client.command(`RCPT TO:${path}`), /^501 5\.1\.3 /, path)
  t.match(await client.command('RCPT FROM:<lena@harbor.example>'), /^501 /)
  t.match(await client.command('RCPT'), /^501 /)
  t.match(await client.command(LENA), /^250 /)
})

/** Spellings that are fine. */
const WELL_FORMED: readonly [path: string, recipient: string][] = [
  ['<lena@harbor.example>', 'lena@harbor.example'],
  [' <lena@harbor.example>', 'lena@harbor.example'],
  ['<Lena@HARBOR.Example>', 'Lena@harbor.example'],
  ['<@a.example,@b.example:lena@harbor.example>', 'lena@harbor.example'],
  ['<"lena smith"@harbor.example>', '"lena smith"@harbor.example'],
  ['<"a>b"@harbor.example>', '"a>b"@harbor.example'],
  ['<"lena"@harbor.example>', 'lena@harbor.example'],
  ['<lena+berth/4=x@harbor.example>', 'lena+berth/4=x@harbor.example'],
  [`<${'a'.repeat(64)}@harbor.example>`, `${'a'.repeat(64)}@harbor.example`],
  ['<lena@xn--hfen-5qa.example>', 'lena@xn--hfen-5qa.example'],
]

for (const [path, recipient] of WELL_FORMED) {
  t.test(`RCPT TO:${path} goes to ${recipient}`, async (t) => {
    const client = await openSession(t, service, sender)
    await client.command(`MAIL FROM:<${desk}>`)
    t.match(await client.command(`rcpt to:${path}`), /^250 2\.1\.5 /)
    await client.command('DATA')
    const { deliveries } = await shown(service, await client.finish(mail(sender)))
    t.equal(deliveries[0]?.recipient, recipient)
  })
}

const CORPUS = new URL('../../../shared/corpora/addresses.json', import.meta.url)

t.test(
  'RCPT accepts every valid address of the corpus and refuses every wrong one',
  {
    skip: existsSync(CORPUS) ? false : 'the corpora are not here',
  },
  async (t) => {
    const entries = JSON.parse(readFileSync(CORPUS, 'utf8')) as {
      address: string
      category: string
      diagnosis: string
    }[]
    const client = await openSession(t, service, sender)
    await client.command(`MAIL FROM:<${desk}> SMTPUTF8`)
    for (const { address, category, diagnosis } of entries) {
      if (/[\r\n]/.test(address)) continue
      const reply = await client.command(`RCPT TO:<${address}>`)
      if (category === 'ISEMAIL_VALID_CATEGORY') t.match(reply, /^250 /, `${address}: ${diagnosis}`)
      if (category === 'ISEMAIL_ERR') t.match(reply, /^501 /, `${address}: ${diagnosis}`)
    }
  },
)

t.test('a non-ASCII address needs SMTPUTF8 on MAIL, or is answered 553 5.6.7', async (t) => {
  const client = await openSession(t, service, sender)
  t.match(await client.command(`MAIL FROM:<zoë@${sender.domain}>`), /^553 5\.6\.7 /)
  t.match(await client.command(`MAIL FROM:<${desk}>`), /^250 /)
  t.match(await client.command('RCPT TO:<zoë@harbor.example>'), /^553 5\.6\.7 /)
  t.match(await client.command('RCPT TO:<lena@häfen.example>'), /^(250|553) /)
  await client.command('RSET')
  t.match(await client.command(`MAIL FROM:<zoë@unknown.example> SMTPUTF8`), /^550 /)
  t.match(await client.command(`MAIL FROM:<${desk}>`), /^250 /)
  t.match(await client.command('RCPT TO:<zoë@harbor.example>'), /^553 5\.6\.7 /, 'SMTPUTF8 of a refused MAIL is over')
  await client.command('RSET')
  t.match(await client.command(`MAIL FROM:<zoë@${sender.domain}> SMTPUTF8`), /^250 /)
  t.match(await client.command('RCPT TO:<zoë@harbor.example>'), /^250 /)
  t.match(await client.command('RCPT TO:<lena@häfen.example>'), /^250 /)
  await client.command('DATA')
  const { deliveries } = await shown(service, await client.finish(mail(sender)))
  t.strictSame(
    deliveries.map(({ recipient }) => recipient),
    ['zoë@harbor.example', 'lena@xn--hfen-loa.example'],
  )
})

t.test('octets that are no UTF-8 are no address', async (t) => {
  const client = await openSession(t, service, sender)
  t.match(await client.command(Buffer.from(`MAIL FROM:<de\xffsk@${sender.domain}> SMTPUTF8`, 'latin1')), /^501 /)
  t.match(await client.command(`MAIL FROM:<${desk}> SMTPUTF8`), /^250 /)
  for (const octets of ['\xff', '\xc3', '\xa0', '\xed\xa0\x80', '\xc0\xaf', '\xf8\x88\x80\x80\x80']) {
    const reply = await client.command(Buffer.from(`RCPT TO:<le${octets}na@harbor.example>`, 'latin1'))
    t.match(reply, /^501 5\.1\.3 /, Buffer.from(octets, 'latin1').toString('hex'))
  }
})

/** Parameters of MAIL and RCPT and what they are answered. */
const PARAMETERS: readonly [command: string, reply: RegExp][] = [
  [`MAIL FROM:<${desk}> SIZE=1000 BODY=8BITMIME SMTPUTF8`, /^250 /],
  [`MAIL FROM:<${desk}> size=31457280 body=7bit`, /^250 /],
  [`MAIL FROM:<${desk}> AUTH=<>`, /^250 /],
  [`MAIL FROM:<${desk}> SIZE=31457281`, /^552 5\.3\.4 /],
  [`MAIL FROM:<${desk}> SIZE=99999999999999999999`, /^552 5\.3\.4 /],
  [`MAIL FROM:<${desk}> SIZE=`, /^501 /],
  [`MAIL FROM:<${desk}> SIZE=-1`, /^501 /],
  [`MAIL FROM:<${desk}> SIZE=1e3`, /^501 /],
  [`MAIL FROM:<${desk}> SIZE=1 SIZE=2`, /^501 /],
  [`MAIL FROM:<${desk}> BODY=BINARYMIME`, /^501 /],
  [`MAIL FROM:<${desk}> SMTPUTF8=1`, /^501 /],
  [`MAIL FROM:<${desk}> =1`, /^501 /],
  [`MAIL FROM:<${desk}> REQUIRETLS`, /^555 5\.5\.4 /],
  [`MAIL FROM:<${desk}> RET=FULL`, /^555 5\.5\.4 /],
  [`MAIL FROM:<${desk}> BERTH=4`, /^555 5\.5\.4 /],
]

for (const [command, expected] of PARAMETERS) {
  t.test(`${command} is answered ${expected.source.slice(1, 4)}`, async (t) => {
    const client = await openSession(t, service, sender)
    const reply = await client.command(command)
    t.match(reply, expected)
    t.match(await client.command(LENA), reply.startsWith('250') ? /^250 / : /^503 /)
  })
}

t.test('RCPT with a parameter that is not offered is answered 555', async (t) => {
  const client = await openSession(t, service, sender)
  await client.command(`MAIL FROM:<${desk}>`)
  t.match(await client.command(`${LENA} NOTIFY=NEVER`), /^555 5\.5\.4 /)
  t.match(await client.command(LENA), /^250 /)
})
