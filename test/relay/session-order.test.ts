import t from 'tap'
import { makeService } from '../helpers/service.ts'
import { CLOSED } from '../helpers/smtp-client.ts'
import { connectRelay, mail, openSession, queueId, shown, stored } from './session.ts'

const service = await makeService(t)
await service.openRelay()
const sender = await service.makeSender()
const desk = `desk@${sender.domain}`

t.test('EHLO offers the extensions of the contract, and AUTH under TLS only', async (t) => {
  const client = await connectRelay(t, service)
  const plain = (await client.command('EHLO client.test')).split('\n').map((line) => line.slice(4))
  t.strictSame(plain.slice(1).sort(), [
    '8BITMIME',
    'DSN',
    'ENHANCEDSTATUSCODES',
    'PIPELINING',
    'SIZE 31457280',
    'SMTPUTF8',
    'STARTTLS',
  ])
  await client.startTls()
  const secured = (await client.command('EHLO client.test')).split('\n').map((line) => line.slice(4))
  t.strictSame(secured.slice(1).sort(), [
    '8BITMIME',
    'AUTH PLAIN LOGIN',
    'DSN',
    'ENHANCEDSTATUSCODES',
    'PIPELINING',
    'SIZE 31457280',
    'SMTPUTF8',
  ])
})

/** Commands before their time: what came before, the command, the reply. */
const TOO_EARLY: readonly [before: readonly string[], command: string, reply: RegExp][] = [
  [[], `RCPT TO:<lena@harbor.example>`, /^503 5\.5\.1 /],
  [[], 'DATA', /^503 5\.5\.1 /],
  [[`MAIL FROM:<${desk}>`], 'DATA', /^503 5\.5\.1 /],
  [[`MAIL FROM:<${desk}>`], `MAIL FROM:<${desk}>`, /^503 5\.5\.1 /],
  [[`MAIL FROM:<${desk}>`, 'RCPT TO:<lena@harbor.example>', 'RSET'], 'DATA', /^503 5\.5\.1 /],
  [[`MAIL FROM:<${desk}>`, 'RSET'], 'RCPT TO:<lena@harbor.example>', /^503 5\.5\.1 /],
  [[`MAIL FROM:<${desk}>`, 'RCPT TO:<lena@harbor.example>', 'EHLO again.test'], 'DATA', /^503 5\.5\.1 /],
  [[], 'STARTTLS', /^503 5\.5\.1 /],
  [[], 'AUTH PLAIN AGEAYg==', /^503 5\.5\.1 /],
]

for (const [before, command, reply] of TOO_EARLY) {
  t.test(`${command} after ${before.join(', ') || 'AUTH'} is answered ${reply.source.slice(1, 4)}`, async (t) => {
    const client = await openSession(t, service, sender)
    for (const line of before) t.match(await client.command(line), /^250[ -]/)
    t.match(await client.command(command), reply)
    t.equal(await client.command('NOOP'), '250 2.0.0 OK')
  })
}

/** Commands that have no effect on the transaction that is open. */
for (const [command, reply] of [
  ['HELP', /^214 2\.0\.0 /],
  ['HELP MAIL', /^214 2\.0\.0 /],
  ['EXPN staff', /^502 5\.5\.1 /],
  ['VRFY lena', /^252 2\.\d\.\d Cannot VRFY user, but will accept message and attempt delivery$/m],
  ['RSET now', /^501 5\.5\.4 /],
] as const) {
  t.test(`${command} is answered ${reply.source.slice(1, 4)}, and the transaction goes on`, async (t) => {
    const client = await openSession(t, service, sender)
    t.match(await client.command(`MAIL FROM:<${desk}>`), /^250 /)
    t.match(await client.command(command), reply)
    t.match(await client.command('RCPT TO:<lena@harbor.example>'), /^250 /)
  })
}

for (const command of ['AUTH PLAIN AGEAYg==', `MAIL FROM:<${desk}>`, 'RCPT TO:<a@harbor.example>', 'DATA']) {
  t.test(`${command} before EHLO gets 503`, async (t) => {
    const client = await connectRelay(t, service, { tls: true })
    t.match(await client.command(command), /^503 5\.5\.1 /)
  })
}

/** Lines that are no command of ours. */
const UNKNOWN = [
  'BDAT 5 LAST',
  'XCLIENT ADDR=127.0.0.1',
  'XFORWARD ADDR=127.0.0.1',
  'TURN',
  'WIZ',
  'x',
  '',
  ' NOOP',
  'DATA\t',
]

for (const command of UNKNOWN) {
  t.test(`${JSON.stringify(command)} gets 500 and the session goes on`, async (t) => {
    const client = await openSession(t, service, sender)
    t.match(await client.command(command), /^500 5\.5\.[12] /)
    t.equal(await client.command('NOOP'), '250 2.0.0 OK')
  })
}

t.test('RSET forgets sender and recipients, and the next message has its own', async (t) => {
  const client = await openSession(t, service, sender)
  await client.command(`MAIL FROM:<${desk}>`)
  await client.command('RCPT TO:<first@harbor.example>')
  t.equal(await client.command('RSET'), '250 2.0.0 Flushed')
  const story = await shown(service, await client.submit(desk, 'second@harbor.example', mail(sender)))
  t.strictSame(
    story.deliveries.map(({ recipient }) => recipient),
    ['second@harbor.example'],
  )
})

t.test('one session carries many messages, each with an id of its own', async (t) => {
  const own = await service.makeSender()
  const client = await openSession(t, service, own)
  const ids = new Set<string>()
  for (let number = 0; number < 30; number++) {
    ids.add(queueId(await client.submit(`desk@${own.domain}`, `r${number}@harbor.example`, mail(own))))
  }
  t.equal(ids.size, 30)
  t.strictSame(await stored(service, own), { messages: 30, deliveries: 30 })
})

t.test('a pipelined group is answered in order, and bad recipients leave the good ones', async (t) => {
  const own = await service.makeSender()
  const client = await openSession(t, service, own)
  await client.send(
    `MAIL FROM:<desk@${own.domain}>\r\nRCPT TO:<a@harbor.example>\r\nRCPT TO:<Wrong>\r\nRCPT TO:<b@harbor.example>\r\nDATA\r\n`,
  )
  const codes = (await client.replies(5)).map((reply) => reply.slice(0, 9))
  t.strictSame(codes, ['250 2.1.0', '250 2.1.5', '501 5.1.3', '250 2.1.5', '354 End d'.slice(0, 9)])
  const first = await client.finish(mail(own))
  // A message may be followed by the next group in the same packet (RFC 2920 3.1).
  await client.send(`MAIL FROM:<desk@${own.domain}>\r\nRCPT TO:<c@harbor.example>\r\nDATA\r\n`)
  t.match((await client.replies(3)).at(-1), /^354 /)
  await client.send(`${mail(own)}.\r\nMAIL FROM:<desk@${own.domain}>\r\nRCPT TO:<d@harbor.example>\r\nDATA\r\n`)
  const [second = '', ...group] = await client.replies(4)
  t.match(group.at(-1), /^354 /)
  const third = await client.finish(mail(own))
  const recipients = await Promise.all([first, second, third].map((reply) => recipientsOf(reply)))
  t.strictSame(recipients, [['a@harbor.example', 'b@harbor.example'], ['c@harbor.example'], ['d@harbor.example']])
})

t.test('QUIT gets 221 and ends the session; what follows it is not executed', async (t) => {
  const own = await service.makeSender()
  const client = await openSession(t, service, own)
  await client.begin(`desk@${own.domain}`, 'lena@harbor.example')
  await client.send(`${mail(own)}.\r\nQUIT\r\nMAIL FROM:<desk@${own.domain}>\r\n`)
  queueId(await client.reply())
  t.match(await client.reply(), /^221 2\.0\.0 /)
  t.equal(await client.reply(), CLOSED)
})

t.test('the tenth unknown command ends the session with 421', async (t) => {
  const client = await openSession(t, service, sender)
  await client.send('WHAT\r\n'.repeat(12))
  const replies = await client.replies(10)
  t.ok(replies.slice(0, 9).every((reply) => reply.startsWith('500 ')))
  t.match(replies[9], /^421 /)
  t.equal(await client.reply(), CLOSED)
})

async function recipientsOf(reply: string): Promise<string[]> {
  return (await shown(service, reply)).deliveries.map(({ recipient }) => recipient)
}
