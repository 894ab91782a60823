import t, { type Test } from 'tap'
import { makeService } from '../helpers/service.ts'
import { CLOSED, type SmtpClient } from '../helpers/smtp-client.ts'
import { connectRelay, mail, openSession, queueId } from './session.ts'

const service = await makeService(t)
await service.openRelay()
const sender = await service.makeSender()
const MAIL = `MAIL FROM:<desk@${sender.domain}>`
const RCPT = 'RCPT TO:<lena@harbor.example>'

/** Ways to the relay; without TLS nobody can authenticate, and no mail is taken. */
const TRANSPORTS = {
  plain: async (t: Test) => {
    const client = await connectRelay(t, service)
    await client.command('EHLO client.test')
    return client
  },
  STARTTLS: (t: Test) => openSession(t, service, sender, { tls: false }),
  TLS: (t: Test) => openSession(t, service, sender, { tls: true }),
} as const

interface Case {
  readonly section: string
  readonly says: string
  /** Commands with the replies they get, in one session. */
  readonly steps: readonly (readonly [command: string, reply: RegExp])[]
  /** It needs no mail to be taken, so it holds without TLS too. */
  readonly plain?: true
}

const CASES: readonly Case[] = [
  {
    section: '2.4',
    says: 'command verbs are read in any case',
    plain: true,
    steps: [
      ['nOOp', /^250 /],
      ['RSET', /^250 /],
      ['rset', /^250 /],
    ],
  },
  {
    section: '4.1.1.1',
    says: 'EHLO answers with the host name and the extensions, HELO in one line',
    plain: true,
    steps: [
      ['EHLO again.test', /^250-relay\.test greets \S+$/m],
      ['HELO again.test', /^250 relay\.test\b[^\n]*$/],
    ],
  },
  { section: '4.1.1.1', says: 'EHLO without a name is a syntax error', plain: true, steps: [['EHLO', /^501 /]] },
  {
    section: '4.1.1.1',
    says: 'an address literal may stand for the name of the client',
    plain: true,
    steps: [
      ['EHLO [192.0.2.1]', /^250-/],
      ['EHLO [IPv6:2001:db8::1]', /^250-/],
    ],
  },
  {
    section: '4.1.4',
    says: 'EHLO in the middle begins anew',
    steps: [
      [MAIL, /^250 /],
      ['EHLO again.test', /^250-/],
      [RCPT, /^503 /],
    ],
  },
  {
    section: '4.1.1.2',
    says: 'MAIL takes the null path, and blanks where clients put them',
    steps: [
      ['MAIL FROM:<>', /^250 /],
      ['RSET', /^250 /],
      [`MAIL FROM: <desk@${sender.domain}>`, /^250 /],
    ],
  },
  {
    section: '4.1.1.2',
    says: 'MAIL without brackets, path or colon is a syntax error',
    steps: [
      [`MAIL FROM:desk@${sender.domain}`, /^501 /],
      ['MAIL FROM:', /^501 /],
      ['MAIL', /^501 /],
      [`MAIL <desk@${sender.domain}>`, /^501 /],
    ],
  },
  {
    section: '4.1.1.3',
    says: 'RCPT takes several recipients, the postmaster without a domain, and drops a source route',
    steps: [
      [MAIL, /^250 /],
      [RCPT, /^250 /],
      ['RCPT TO:<Postmaster>', /^250 /],
      ['RCPT TO:<@relay.example,@b.example:mina@harbor.example>', /^250 /],
      ['RCPT TO:<>', /^501 /],
      ['RCPT TO:<Lena>', /^501 /],
    ],
  },
  {
    section: '4.1.1.4',
    says: 'DATA wants a recipient',
    steps: [
      ['DATA', /^503 /],
      [MAIL, /^250 /],
      ['DATA', /^503 /],
    ],
  },
  {
    section: '4.1.1.5',
    says: 'RSET forgets the transaction, and takes no argument',
    steps: [
      [MAIL, /^250 /],
      [RCPT, /^250 /],
      ['RSET now', /^501 /],
      [RCPT, /^250 /],
      ['RSET', /^250 /],
      [RCPT, /^503 /],
    ],
  },
  {
    section: '4.1.1.6 to 4.1.1.9',
    says: 'VRFY, EXPN, HELP and NOOP answer and change nothing',
    steps: [
      [MAIL, /^250 /],
      ['VRFY lena', /^252 /],
      ['EXPN staff', /^502 /],
      ['HELP', /^214 /],
      ['NOOP with words', /^250 /],
      [RCPT, /^250 /],
    ],
  },
  {
    section: '4.1.4',
    says: 'a second MAIL within a transaction is out of order',
    steps: [
      [MAIL, /^250 /],
      [MAIL, /^503 /],
      [RCPT, /^250 /],
    ],
  },
  {
    section: '4.2.4',
    says: 'a command nobody knows is answered 500',
    plain: true,
    steps: [
      ['FOO bar', /^500 /],
      ['NOOP', /^250 /],
    ],
  },
  {
    section: '4.5.3.1',
    says: 'a local part of 64 octets and a path of 256 are taken',
    steps: [
      [MAIL, /^250 /],
      [`RCPT TO:<${'a'.repeat(64)}@harbor.example>`, /^250 /],
      [`RCPT TO:<${'a'.repeat(65)}@harbor.example>`, /^501 /],
      [`RCPT TO:<a@${'b'.repeat(61)}.${'b'.repeat(63)}.${'b'.repeat(63)}.${'b'.repeat(54)}.example>`, /^250 /],
      [`RCPT TO:<a@${'b'.repeat(64)}.example>`, /^501 /],
    ],
  },
  {
    section: '4.5.3.1.8',
    says: 'a hundred recipients are taken in one transaction',
    steps: [
      [MAIL, /^250 /],
      ...Array.from({ length: 100 }, (_, at) => [`RCPT TO:<r${at}@harbor.example>`, /^250 /] as const),
    ],
  },
  {
    section: '4.1.2',
    says: 'quoted local parts are addresses; literals of hosts are not delivered to',
    steps: [
      [MAIL, /^250 /],
      ['RCPT TO:<"lena moss"@harbor.example>', /^250 /],
      ['RCPT TO:<"a>b"@harbor.example>', /^250 /],
      ['RCPT TO:<lena@[192.0.2.1]>', /^501 /],
    ],
  },
  {
    section: '4.1.1.11',
    says: 'parameters nobody offered are refused',
    steps: [
      [`${MAIL} FOO=bar`, /^555 /],
      [MAIL, /^250 /],
      [`${RCPT} BERTH=4`, /^555 /],
    ],
  },
  {
    section: '4.1.1.10',
    says: 'QUIT is answered 221, and the connection ends',
    plain: true,
    steps: [['QUIT', /^221 /]],
  },
]

for (const [name, open] of Object.entries(TRANSPORTS)) {
  for (const { section, says, steps, plain } of CASES) {
    if (name === 'plain' && !plain) continue
    t.test(`RFC 5321 ${section} over ${name}: ${says}`, async (t) => {
      const client = await open(t)
      for (const [command, reply] of steps) t.match(await client.command(command), reply, command.slice(0, 60))
      if (steps.at(-1)?.[0] === 'QUIT') t.equal(await client.reply().catch((error: Error) => error.message), CLOSED)
    })
  }
}

t.test('RFC 5321 4.1.1.2 over plain: no mail is taken, and the reply says what comes first', async (t) => {
  const client = await TRANSPORTS.plain(t)
  for (const command of [MAIL, RCPT, 'DATA'])
    t.match(await client.command(command), /^530 5\.7\.0 Must issue a STARTTLS/)
})

for (const name of ['STARTTLS', 'TLS'] as const) {
  t.test(
    `RFC 5321 4.5.2 over ${name}: dots that were doubled are single again, and nothing else is changed`,
    async (t) => {
      const client = await TRANSPORTS[name](t)
      const reply = await send(client, mail(sender, '', '..\r\n...\r\n..a\r\n a.\r\n'))
      const [row] = await service.sql<{ content: Buffer }[]>`
      select content from bodies where message_id = ${queueId(reply)}::uuid`
      t.match(row?.content.toString(), /\r\n\r\n\.\r\n\.\.\r\n\.a\r\n a\.\r\n$/)
    },
  )

  t.test(
    `RFC 5321 4.5.3.1.6 over ${name}: a line of 998 octets and its end is taken, and a longer one too`,
    async (t) => {
      const client = await TRANSPORTS[name](t)
      for (const length of [998, 5000]) queueId(await send(client, mail(sender, '', `${'x'.repeat(length)}\r\n`)))
    },
  )

  t.test(`RFC 5321 3.3 over ${name}: a session carries one message after the other`, async (t) => {
    const client = await TRANSPORTS[name](t)
    const ids = [await send(client, mail(sender)), await send(client, mail(sender))].map(queueId)
    t.not(ids[0], ids[1])
  })

  t.test(
    `RFC 2920 over ${name}: commands in one packet are answered in their order, refused ones in their place`,
    async (t) => {
      const client = await TRANSPORTS[name](t)
      await client.send(`${MAIL}\r\nRCPT TO:<Wrong>\r\n${RCPT}\r\nNOOP\r\nDATA\r\n`)
      const replies = await client.replies(5)
      t.strictSame(
        replies.map((reply) => reply.slice(0, 3)),
        ['250', '501', '250', '250', '354'],
      )
      t.match(await client.finish(mail(sender)), /^250 /)
    },
  )
}

/** One whole transaction; the message's dots are doubled already. */
async function send(client: SmtpClient, message: string): Promise<string> {
  for (const command of [MAIL, RCPT]) await client.command(command)
  await client.command('DATA')
  await client.send(`${message}.\r\n`)
  return client.reply()
}
