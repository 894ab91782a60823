import { connect } from 'node:net'
import t from 'tap'
import { makeService, type Sender } from '../helpers/service.ts'
import { base64, CLOSED } from '../helpers/smtp-client.ts'
import { until } from '../helpers/until.ts'
import { connectRelay, mail, NOTHING, openSession, queueId, stored } from './session.ts'

const service = await makeService(t)
await service.openRelay()
const sender = await service.makeSender()
const desk = `desk@${sender.domain}`
const SIZE = 30 * 1024 * 1024

/** A message of exactly so many octets. */
function mailOf(from: Sender, octets: number): Buffer {
  const head = mail(from, '', '')
  const body = `${'x'.repeat(78)}\r\n`.repeat(Math.ceil(octets / 80)).slice(0, octets - head.length - 2)
  // The cut may fall between CR and LF.
  return Buffer.from(`${head}${body.replace(/\r$/, 'x')}\r\n`)
}

t.test(
  'a message of 30 MB is accepted; one octet more gets 552 5.3.4 after end of data, and the session goes on',
  async (t) => {
    const own = await service.makeSender()
    const client = await openSession(t, service, own)
    for (const octets of [SIZE + 1, SIZE + 1024 * 1024]) {
      const reply = await client.submit(`desk@${own.domain}`, 'lena@harbor.example', mailOf(own, octets))
      t.match(reply, /^552 5\.3\.4 /)
    }
    t.strictSame(await stored(service, own), NOTHING)
    queueId(await client.submit(`desk@${own.domain}`, 'lena@harbor.example', mailOf(own, SIZE)))
    queueId(await client.submit(`desk@${own.domain}`, 'lena@harbor.example', mail(own)))
  },
)

t.test('a long command line is taken up to 16 KiB; a longer one ends the session', async (t) => {
  const client = await openSession(t, service, sender)
  t.equal(await client.command(`NOOP ${'x'.repeat(512)}`), '250 2.0.0 OK')
  t.equal(await client.command(`NOOP ${'x'.repeat(16_000)}`), '250 2.0.0 OK')
  t.match(await client.command(`RCPT TO:<${'a'.repeat(1000)}@harbor.example>`), /^501 /)
  for (const length of [17 * 1024, 1024 * 1024]) {
    const other = await openSession(t, service, sender)
    await other.send('x'.repeat(length))
    t.match(await other.reply(), /^421 4\.5\.0 /)
    t.equal(await other.reply(), CLOSED)
  }
})

t.test('10,000 header fields pass; more are refused with 550 5.6.0', async (t) => {
  const client = await openSession(t, service, sender)
  // Three are in the mail.
  const fields = (count: number) => mail(sender, 'X-A: b\r\n'.repeat(count - 3))
  queueId(await client.submit(desk, 'lena@harbor.example', fields(10_000)))
  for (const count of [10_001, 60_000])
    t.equal(
      await client.submit(desk, 'lena@harbor.example', fields(count)),
      '550 5.6.0 Malformed message: the header has more than 10000 fields',
    )
  queueId(await client.submit(desk, 'lena@harbor.example', mail(sender)))
})

t.test('100 Received fields pass; 101 are a loop, rejected with 554 5.4.6', async (t) => {
  const own = await service.makeSender()
  const client = await openSession(t, service, own)
  const hops = (count: number): string =>
    Array.from(
      { length: count },
      (_, hop) => `${hop % 2 ? 'Received' : 'RECEIVED'}: from a${hop}\r\n\tby b; x\r\n`,
    ).join('')
  t.match(await client.submit(`desk@${own.domain}`, 'lena@harbor.example', mail(own, hops(101))), /^554 5\.4\.6 /)
  t.match(await client.submit(`desk@${own.domain}`, 'lena@harbor.example', mail(own, hops(150))), /^554 5\.4\.6 /)
  t.strictSame(await stored(service, own), NOTHING)
  queueId(await client.submit(`desk@${own.domain}`, 'lena@harbor.example', mail(own, hops(100))))
  const inBody = mail(own, hops(100), hops(101))
  queueId(await client.submit(`desk@${own.domain}`, 'lena@harbor.example', inBody))
})

const CONTROLS = [...Array(32).keys(), 127].filter((octet) => octet !== 10 && octet !== 13)

t.test('a control character in EHLO, a path, a parameter or a user name gets 501', async (t) => {
  const client = await openSession(t, service, sender)
  for (const octet of CONTROLS) {
    const char = String.fromCharCode(octet)
    const places = [
      `EHLO cli${char}ent.test`,
      `HELO cli${char}ent.test`,
      `MAIL FROM:<de${char}sk@${sender.domain}>`,
      `MAIL FROM:<desk@${sender.domain}${char}>`,
      `MAIL FROM:<${desk}> AUTH=a${char}b`,
      `MAIL FROM:<${desk}> BO${char}DY=7BIT`,
      `RCPT TO:<le${char}na@harbor.example>`,
    ]
    for (const command of places) t.match(await client.command(command), /^501 /, JSON.stringify(command))
    const guest = await connectRelay(t, service, { tls: true })
    await guest.command('EHLO client.test')
    t.match(await guest.command(`AUTH PLAIN ${base64(`\0api${char}key\0${sender.apiKey}`)}`), /^5(01|35) /)
    await guest.command('AUTH LOGIN')
    t.match(await guest.command(base64(`api${char}key`)), /^501 /)
    guest.destroy()
  }
})

t.test('garbage on the TLS port, and handshakes cut short, end their own connections only', async (t) => {
  const { relayTlsPort } = service.config
  const garbage = [
    'EHLO client.test\r\n',
    '\0'.repeat(100),
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    '\x80\x2e\x01\x00\x02',
    '',
  ]
  for (let number = 0; number < 100; number++) {
    const socket = connect({ port: relayTlsPort, host: '127.0.0.1' })
    socket.on('error', () => {})
    const closed = new Promise((resolve) => socket.once('close', resolve))
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.write(Buffer.from(garbage[number % garbage.length] as string, 'latin1'))
    if (number % 2) socket.resetAndDestroy()
    else socket.end()
    socket.resume()
    await closed
  }
  const client = await openSession(t, service, sender)
  queueId(await client.submit(desk, 'lena@harbor.example', mail(sender)))
})

/** Where a client leaves in the middle of a message. */
const LOST: readonly [what: string, sent: (message: string) => string][] = [
  ['after DATA', () => ''],
  ['in the header', (message) => message.slice(0, 20)],
  ['before the final dot', (message) => message],
  ['at the final dot', (message) => `${message}.`],
  ['before the last LF', (message) => `${message}.\r`],
]

for (const [what, sent] of LOST) {
  t.test(`a client that leaves ${what} leaves nothing behind`, async (t) => {
    const own = await service.makeSender()
    for (const leave of ['destroy', 'reset'] as const) {
      const client = await openSession(t, service, own)
      await client.begin(`desk@${own.domain}`, 'lena@harbor.example')
      await client.send(sent(mail(own)))
      client[leave]()
    }
    // A message that comes later, and is there, shows that the earlier ones were done with.
    const client = await openSession(t, service, own)
    queueId(await client.submit(`desk@${own.domain}`, 'lena@harbor.example', mail(own)))
    t.strictSame(await stored(service, own), { messages: 1, deliveries: 1 })
  })
}

t.test('when the room for bodies is taken, a message gets 452 4.3.1, and later ones pass', async (t) => {
  const tight = await makeService(t, { BODY_BUDGET_MB: '32' })
  await tight.openRelay()
  const own = await tight.makeSender()
  const from = `desk@${own.domain}`
  const open = () => openSession(t, tight, own)
  const [large, small] = [mailOf(own, 20_000_000), mailOf(own, 8_000_000)]

  const holding = await open()
  await holding.begin(from, 'lena@harbor.example')
  await holding.send(large)
  const asking = await open()
  await until('the announced size to be refused', async () => {
    const reply = await asking.command(`MAIL FROM:<${from}> SIZE=20000000`)
    if (reply.startsWith('250')) await asking.command('RSET')
    return reply.startsWith('452 4.3.1 ')
  })
  t.match(await asking.submit(from, 'lena@harbor.example', large), /^452 4\.3\.1 /)
  // The room of what is refused already is free before its sender has finished.
  const refused = await open()
  await refused.begin(from, 'lena@harbor.example')
  await refused.send(large)
  queueId(await asking.submit(from, 'lena@harbor.example', small))
  t.match(await refused.finish(''), /^452 4\.3\.1 /)
  queueId(await holding.finish(''))
  queueId(await asking.submit(from, 'lena@harbor.example', large))

  const lost = await open()
  await lost.begin(from, 'lena@harbor.example')
  await lost.send(large)
  lost.destroy()
  await until('the room of the lost client', async () => {
    const reply = await asking.command(`MAIL FROM:<${from}> SIZE=31000000`)
    await asking.command('RSET')
    return reply.startsWith('250')
  })
  t.strictSame(await stored(tight, own), { messages: 3, deliveries: 3 })
})

t.test(
  'many large messages at once are each accepted or rejected with 452, and those rejected pass later',
  async (t) => {
    const tight = await makeService(t, { BODY_BUDGET_MB: '32' })
    await tight.openRelay()
    const own = await tight.makeSender()
    const message = mailOf(own, 9_000_000)
    const clients = await Promise.all(Array.from({ length: 8 }, () => openSession(t, tight, own)))
    const replies = await Promise.all(
      clients.map((client) => client.submit(`desk@${own.domain}`, 'lena@harbor.example', message)),
    )
    t.ok(
      replies.every((reply) => /^(250 2\.0\.0 Ok:|452 4\.3\.1) /.test(reply)),
      replies.join(' / '),
    )
    const accepted = replies.filter((reply) => reply.startsWith('250')).length
    t.strictSame(await stored(tight, own), { messages: accepted, deliveries: accepted })
    const [client] = clients
    queueId((await client?.submit(`desk@${own.domain}`, 'lena@harbor.example', message)) ?? '')
  },
)
