import { simpleParser } from 'mailparser'
import t, { type Test } from 'tap'
import { openSession, queueId } from '../relay/session.ts'
import { ADDRESSES, OTHERS, WRITTEN } from './ascii-fields.ts'
import { ATTACHMENT, EIGHT_BIT_BODIES, FILE_NAMES, UMLAUTS } from './eight-bit-bodies.ts'
import { startInternet, stepsOf } from './outbox.ts'
import { verdictOf } from './tracked.ts'

const internet = await startInternet(t)
const { service, sender } = internet
await service.openRelay()
const desk = `desk@${sender.domain}`
const ASCII = `From: Desk <${desk}>\r\nTo: lena@harbor.example\r\nMessage-ID: <1@${sender.domain}>\r\n`
const UTF8 = ['PIPELINING', 'SIZE', '8BITMIME', 'SMTPUTF8']
const EIGHT_BIT = ['PIPELINING', 'SIZE', '8BITMIME']
const NOTHING = ['PIPELINING', 'SIZE']

/** Submits a message with SMTPUTF8, or without, to a host with these extensions. */
async function sent(t: Test, extensions: readonly string[], message: string, parameters = ' SMTPUTF8') {
  const host = await internet.host(t, { extensions })
  const client = await openSession(t, service, sender)
  await client.command(`MAIL FROM:<${desk}>${parameters}`)
  await client.command(`RCPT TO:<lena@${internet.domain([host])}>`)
  await client.command('DATA')
  return { host, id: queueId(await client.finish(message)) }
}

/** The message that arrived: without octets beyond ASCII, signed as it is, and as another program reads it. */
async function read(t: Test, { host, id }: Awaited<ReturnType<typeof sent>>) {
  const delivery = await internet.inState(id, 'delivered')
  const data = host.messages[0]?.data ?? Buffer.alloc(0)
  t.equal(await verdictOf(sender, service, data), `pass ${sender.domain}`)
  const mailFrom = host.commands.find((command) => command.startsWith('MAIL')) ?? ''
  t.notMatch(mailFrom, 'SMTPUTF8')
  t.match(mailFrom, new RegExp(` SIZE=${data.length}\\b`), 'the announced size is that of what is sent')
  const notes = stepsOf(delivery).flatMap(({ step, text }) => (step === 'content' ? [text] : []))
  return { data, notes, mail: await simpleParser(data) }
}

const HEADER_NOTE = 'the header was written in ASCII: the server does not support SMTPUTF8'

t.test('a header in UTF-8 is written in ASCII for a server without SMTPUTF8', async (t) => {
  const header =
    `From: Überfahrt <${desk}>\r\nTo: "Lena, Köln" <lena@köln.example>,\r\n Jörg <joerg@harbor.example>\r\n` +
    `Subject: Fähre nach Köln\r\nX-Route: Köln – Bonn\r\nMIME-Version: 1.0\r\n` +
    `Content-Type: application/pdf; name="Fähre.pdf"\r\nContent-Disposition: attachment; filename="Fähre.pdf"\r\nContent-Transfer-Encoding: base64\r\n`
  const { data, notes, mail } = await read(t, await sent(t, EIGHT_BIT, `${header}\r\nSGVsbG8=\r\n`))
  t.match(data.toString('latin1'), /^[\x00-\x7f]*$/)
  t.strictSame(notes, [HEADER_NOTE])
  t.match(mail, {
    subject: 'Fähre nach Köln',
    from: { value: [{ name: 'Überfahrt', address: desk }] },
    to: {
      value: [
        { name: 'Lena, Köln', address: 'lena@köln.example' },
        { name: 'Jörg', address: 'joerg@harbor.example' },
      ],
    },
    attachments: [{ filename: 'Fähre.pdf', content: Buffer.from('Hello') }],
  })
})

t.test('a header in UTF-8 arrives as it was where SMTPUTF8 is offered', async (t) => {
  const { host, id } = await sent(t, UTF8, `${ASCII}Subject: Fähre\r\n\r\nhello\r\n`)
  await internet.inState(id, 'delivered')
  t.match(host.messages[0]?.data.toString(), '\r\nSubject: Fähre\r\n')
  t.match(
    host.commands.find((command) => command.startsWith('MAIL')),
    / SMTPUTF8$/,
  )
})

t.test('a local part beyond ASCII in a field bounces with 5.6.7, which names the field', async (t) => {
  const { id } = await sent(t, EIGHT_BIT, `${ASCII}Cc: jörg@harbor.example\r\nSubject: s\r\n\r\nhello\r\n`)
  const { attempts } = await internet.inState(id, 'bounced')
  t.match(attempts, [{ stage: 'mail', code: 550, enhanced: '5.6.7', reply: /the field Cc cannot be written in ASCII/ }])
})

t.test('raw octets of a client without SMTPUTF8 that are not UTF-8 stay as they are', async (t) => {
  const { host, id } = await sent(
    t,
    EIGHT_BIT,
    Buffer.from(`${ASCII}Subject: F\xe4hre\r\n\r\nhello\r\n`, 'latin1').toString('latin1'),
    '',
  )
  await internet.inState(id, 'delivered')
  t.match(host.messages[0]?.data.toString(), '\r\nSubject: ')
})

const BARE = `From: Desk <${desk}>\r\nMessage-ID: <1@${sender.domain}>\r\n`

/** Submits a message with these fields to a server without SMTPUTF8, and waits for this state of its delivery. */
async function ended(t: Test, fields: string, parameters: string, state: string) {
  const { host, id } = await sent(t, EIGHT_BIT, `${BARE}${fields}\r\nhello\r\n`, parameters)
  const { attempts } = await internet.inState(id, state)
  return { text: host.messages[0]?.data.toString(), attempts }
}

for (const [how, parameters] of [
  ['without', ''],
  ['with', ' SMTPUTF8'],
] as const) {
  for (const [written, ascii] of WRITTEN) {
    t.test(`${JSON.stringify(written)}, submitted ${how} SMTPUTF8, is written in ASCII`, async (t) => {
      t.match((await ended(t, `${written}\r\n`, parameters, 'delivered')).text, `\r\n${ascii}\r\n`)
    })
  }
  for (const field of ADDRESSES) {
    t.test(`${field}, submitted ${how} SMTPUTF8, bounces with 5.6.7, which names the field`, async (t) => {
      const { attempts } = await ended(t, `${field}\r\n`, parameters, 'bounced')
      t.match(attempts, [{ enhanced: '5.6.7', reply: `the field ${field.split(':')[0]} cannot be written in ASCII` }])
    })
  }
}

for (const field of OTHERS) {
  t.test(`${field} stays as it is, and bounces only if it was submitted with SMTPUTF8`, async (t) => {
    t.match((await ended(t, `${field}\r\n`, '', 'delivered')).text, `\r\n${field}\r\n`)
    t.match((await ended(t, `${field}\r\n`, ' SMTPUTF8', 'bounced')).attempts, [{ enhanced: '5.6.7' }])
  })
}

t.test('a header of any length is written in ASCII', async (t) => {
  const members = Array.from({ length: 6000 }, (_, n) => `Jürgen Müller-${n} <a${n}@full.example>`)
  const header = `From: ${desk}\r\nTo: ${members.join(',\r\n ')}\r\nSubject: ${'ü '.repeat(11_000)}\r\n`
  const { data, mail } = await read(t, await sent(t, EIGHT_BIT, `${header}\r\nhello\r\n`, ''))
  t.match(data.toString('latin1'), /^[\x00-\x7f]*$/)
  t.match([mail.to].flat()[0]?.value.at(-1), { name: 'Jürgen Müller-5999', address: 'a5999@full.example' })
  t.equal(mail.subject?.trim(), 'ü '.repeat(11_000).trim())
})

for (const [what, message, note, text] of EIGHT_BIT_BODIES) {
  t.test(`${what} with 8-bit text is encoded for a server without 8BITMIME`, async (t) => {
    const { data, notes, mail } = await read(
      t,
      await sent(t, NOTHING, `${ASCII}Subject: s\r\n${message}`, ' BODY=8BITMIME'),
    )
    t.match(data.toString('latin1'), /^[\x00-\x7f]*$/)
    t.strictSame(notes, [`${note}: the server does not support 8BITMIME`])
    t.match(mail.text?.replace(/\s+/g, ' ').trim(), text.replace(/\s+/g, ' ').trim())
  })
}

for (const [what, name, found] of FILE_NAMES) {
  t.test(`a file whose name is ${what} has it once behind a server without 8BITMIME`, async (t) => {
    const header = `${ASCII}Subject: s\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n`
    const { data, mail } = await read(
      t,
      await sent(t, NOTHING, header + ATTACHMENT.replace('#', name), ' BODY=8BITMIME'),
    )
    t.match(data.toString('latin1'), /^[\x00-\x7f]*$/)
    t.match(mail.attachments, [{ filename: found, content: Buffer.from('Hällo') }])
    t.equal(data.toString('latin1').split('Content-Transfer-Encoding:').length, 2)
    t.equal(data.toString('latin1').split('filename').length, 2)
  })
}

t.test('a file without content keeps its name, also one that is not in UTF-8', async (t) => {
  const header = `${ASCII}Subject: s\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n`
  const file =
    '--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename="F\xe4hre.txt"\r\n\r\n--b--\r\n'
  const host = await internet.host(t, { extensions: NOTHING })
  const client = await openSession(t, service, sender)
  await client.begin(desk, `lena@${internet.domain([host])}`)
  const id = queueId(await client.finish(Buffer.from(header + file, 'latin1')))
  const { data, mail } = await read(t, { host, id })
  t.match(data.toString('latin1'), /^[\x00-\x7f]*$/)
  t.match(mail.attachments, [{ filename: 'Fähre.txt', size: 0 }])
})

t.test('text with encoded words, and a comment in a date, are written in ASCII', async (t) => {
  const header = `${ASCII}Date: Sun, 29 Nov 2026 10:00:00 +0100 (Mitteleuropäische Zeit)\r\nSubject: Re: =?iso-8859-1?Q?F=E4hre?= für dich\r\n`
  const { data, mail } = await read(t, await sent(t, EIGHT_BIT, `${header}\r\nhello\r\n`))
  t.match(data.toString('latin1'), /^[\x00-\x7f]*$/)
  t.match(mail, { subject: 'Re: Fähre für dich', date: new Date('2026-11-29T09:00:00Z') })
})

t.test('a name in a comment behind an address stays its name', async (t) => {
  const to =
    'lena@harbor.example (Lena (Köln)),\r\n root@harbor.example (Cron Daemon), Jörg <joerg@harbor.example> (im Büro)'
  const header = `From: ${desk} (Fähre)\r\nTo: ${to}\r\n`
  const { data, mail } = await read(t, await sent(t, EIGHT_BIT, `${header}Subject: s\r\n\r\nhello\r\n`))
  t.match(data.toString('latin1'), /^[\x00-\x7f]*$/)
  t.match(mail.from?.value, [{ name: 'Fähre', address: desk }])
  t.match([mail.to].flat()[0]?.value, [
    { name: 'Lena (Köln)', address: 'lena@harbor.example' },
    { name: 'Cron Daemon', address: 'root@harbor.example' },
    { name: 'Jörg', address: 'joerg@harbor.example' },
  ])
})

t.test('a report stays one that programs read', async (t) => {
  const report = `Reporting-MTA: dns; a.example\r\n\r\nDiagnostic-Code: smtp; 550 für ${'x '.repeat(600)}\r\n`
  const message =
    `${ASCII}Subject: s\r\nMIME-Version: 1.0\r\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n` +
    `--b\r\n\r\nx\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n${report}\r\n--b--\r\n`
  const { data } = await read(t, await sent(t, NOTHING, message, ' BODY=8BITMIME'))
  t.match(
    data.toString('latin1'),
    /\r\nContent-Type: message\/delivery-status\r\n\r\nReporting-MTA: dns; a\.example\r\n\r\n/,
  )
  t.match(data.toString('latin1').replace(/\r\n /g, ''), /Diagnostic-Code: smtp; 550 f\?*r x x/)
})

t.test('the same goes to a server with 8BITMIME as it is', async (t) => {
  const { host, id } = await sent(t, EIGHT_BIT, `${ASCII}Subject: s\r\n\r\n${UMLAUTS}`, ' BODY=8BITMIME')
  await internet.inState(id, 'delivered')
  t.match(host.messages[0]?.data.toString(), `\r\nSubject: s\r\n\r\n${UMLAUTS}`)
})

t.test('8-bit text below a signature bounces with 5.6.3', async (t) => {
  const message =
    `${ASCII}Subject: s\r\nMIME-Version: 1.0\r\nContent-Type: multipart/signed; boundary=b; protocol="application/pgp-signature"\r\n\r\n` +
    `--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${UMLAUTS}\r\n--b\r\nContent-Type: application/pgp-signature\r\n\r\nx\r\n--b--\r\n`
  const { host, id } = await sent(t, NOTHING, message, ' BODY=8BITMIME')
  const { attempts } = await internet.inState(id, 'bounced')
  t.match(attempts, [
    {
      stage: 'mail',
      code: 550,
      enhanced: '5.6.3',
      reply:
        'the server does not support 8BITMIME, and the message cannot be encoded: part 1, which is signed, contains 8-bit text',
    },
  ])
  t.notOk(host.commands.some((command) => command.startsWith('MAIL')))
})
