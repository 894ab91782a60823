import t, { type Test } from 'tap'
import { makeService, type Sender } from '../helpers/service.ts'
import type { SmtpClient } from '../helpers/smtp-client.ts'
import { mail, NOTHING, openSession, queueId, stored } from './session.ts'

const service = await makeService(t)
await service.openRelay()

/** What some server or other has taken for the end of DATA (CVE-2023-51764, -51765, -51766, CVE-2024-27938). */
const ENDINGS = [
  '\n.\n',
  '\n.\r',
  '\n.\r\n',
  '\r.\n',
  '\r.\r',
  '\r.\r\n',
  '\r\n.\n',
  '\r\n.\r',
  '\r\n.\r\r\n',
  '\r\n\0.\r\n',
  '\r\n.\0\r\n',
  '\r\n.\r\0\n',
]

function smuggled({ domain }: Sender): string {
  return [
    `MAIL FROM:<admin@${domain}>`,
    'RCPT TO:<victim@harbor.example>',
    'DATA',
    `From: admin@${domain}`,
    '',
    'smuggled',
  ].join('\r\n')
}

/** The text whole, byte by byte, and in two pieces parted at each of the places. */
function* waysToSend(text: string, places: readonly number[]): Generator<string[]> {
  yield [text]
  yield [...text]
  for (const place of places) if (place > 0 && place < text.length) yield [text.slice(0, place), text.slice(place)]
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at)
}

/** The same at the very beginning of DATA, where no line end goes before it. */
const FIRST_ENDINGS = ['.\n', '.\r', '.\r\r\n', '\0.\r\n', '.\0\r\n']

for (const tls of [false, true]) {
  const port = tls ? 'the TLS port' : 'the STARTTLS port'

  for (const ending of ENDINGS) {
    t.test(`${JSON.stringify(ending)} does not end DATA on ${port}, however it is cut into segments`, async (t) => {
      const sender = await service.makeSender()
      const client = await openSession(t, service, sender, { tls })
      const before = mail(sender, '', 'first')
      const text = `${before}${ending}${smuggled(sender)}\r\n.\r\n`
      const end = before.length + ending.length
      for (const segments of waysToSend(text, [...range(1, 4), ...range(end - 8, end + 1)])) {
        await client.begin(`desk@${sender.domain}`, 'lena@harbor.example')
        await client.send(...segments)
        t.match(await client.reply(), /^550 5\.6\.(0|11) /)
        await nothingElse(t, client)
      }
      t.strictSame(await stored(service, sender), NOTHING)
    })
  }

  for (const ending of FIRST_ENDINGS) {
    t.test(`${JSON.stringify(ending)} as the first octets of DATA does not end it on ${port}`, async (t) => {
      const sender = await service.makeSender()
      const client = await openSession(t, service, sender, { tls })
      for (const segments of waysToSend(`${ending}${smuggled(sender)}\r\n.\r\n`, range(1, 4))) {
        await client.begin(`desk@${sender.domain}`, 'lena@harbor.example')
        await client.send(...segments)
        t.match(await client.reply(), /^550 5\.6\.(0|11) /)
        await nothingElse(t, client)
      }
      t.strictSame(await stored(service, sender), NOTHING)
    })
  }

  for (const first of ['..: x', '...: x', '..MAIL-FROM:<>', '..: x\r\n..: y']) {
    t.test(
      `a message whose first line is ${JSON.stringify(first)} is one message on ${port}, however cut`,
      async (t) => {
        const sender = await service.makeSender()
        const client = await openSession(t, service, sender, { tls })
        const text = `${first}\r\n${mail(sender, '', smuggled(sender))}\r\n.\r\n`
        let sent = 0
        for (const segments of waysToSend(text, range(1, first.length + 4))) {
          await client.begin(`desk@${sender.domain}`, 'lena@harbor.example')
          await client.send(...segments)
          queueId(await client.reply())
          await nothingElse(t, client)
          sent++
        }
        t.strictSame(await stored(service, sender), { messages: sent, deliveries: sent })
      },
    )
  }
}

async function nothingElse(t: Test, client: SmtpClient): Promise<void> {
  t.equal(await client.command('NOOP'), '250 2.0.0 OK', 'nothing else was answered')
}

t.test('a bare CR or LF anywhere in DATA is refused with 550 5.6.11 and nothing is stored', async (t) => {
  const sender = await service.makeSender()
  const client = await openSession(t, service, sender)
  const whole = mail(sender, 'X-First: 1\r\n', 'one\r\ntwo\r\n')
  for (const bare of ['\r', '\n', '\r\r', '\n\r', '\r\r\n']) {
    for (const place of [0, 5, whole.indexOf('\r\n\r\n') + 4, whole.indexOf('two'), whole.length - 2, whole.length]) {
      const text = `${whole.slice(0, place)}${bare}${whole.slice(place)}`
      t.match(
        await client.submit(`desk@${sender.domain}`, 'lena@harbor.example', text),
        /^550 5\.6\.11 Message contains a bare CR or LF; lines must end with CRLF/,
      )
      await nothingElse(t, client)
    }
  }
  t.strictSame(await stored(service, sender), NOTHING)
})

t.test('NUL anywhere in DATA is refused with 550 5.6.0 and nothing is stored', async (t) => {
  const sender = await service.makeSender()
  const client = await openSession(t, service, sender)
  for (const fields of ['X-First: \0\r\n', '\0', 'X-\0: 1\r\n']) {
    const reply = await client.submit(`desk@${sender.domain}`, 'lena@harbor.example', mail(sender, fields))
    t.match(reply, /^550 5\.6\.0 .*NUL/)
  }
  const reply = await client.submit(`desk@${sender.domain}`, 'lena@harbor.example', mail(sender, '', 'a\0b\r\n'))
  t.match(reply, /^550 5\.6\.0 .*NUL/)
  t.strictSame(await stored(service, sender), NOTHING)
})
