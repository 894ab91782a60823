import t from 'tap'
import { makeService } from '../../helpers/service.ts'
import { NOTHING, openSession, shown, stored } from '../session.ts'
import { accepted } from './accepted.ts'
import { CORRECTED, commonFields, IDS, LONG_WORD, TO, WORDS } from './corrected-headers.ts'

const service = await makeService(t)
await service.openRelay()
const sender = await service.makeSender()
const desk = `desk@${sender.domain}`
const COMMON = commonFields(sender.domain)

for (const { written, corrected, sent, read, found } of CORRECTED) {
  t.test(`${JSON.stringify(written).slice(0, 100)}: ${corrected}`, async (t) => {
    const client = await openSession(t, service, sender)
    const reply = await client.submit(
      desk,
      'lena@harbor.example',
      `${COMMON}${written.replace('#', sender.domain)}\r\nhello\r\n`,
    )
    t.match(reply, corrected)
    t.match(await shown(service, reply), { corrected: new RegExp(`^${corrected}`) })
    const { text, read: mail } = await accepted(service, reply)
    for (const line of text.split('\r\n')) t.ok(line.length <= 998)
    if (sent !== undefined) t.equal(text, `${COMMON}${sent}\r\nhello\r\n`)
    if (read) t.strictSame(read(mail), found)
    t.equal(mail.text?.trim(), 'hello')
  })
}

for (const field of ['Content-Transfer-Encoding: 8-bit', 'Content-Type: text/html charset=utf-8']) {
  t.test(`${field} stays as it is if a DKIM signature covers it, also one that does not verify`, async (t) => {
    const client = await openSession(t, service, sender)
    const name = field.split(':')[0]?.toLowerCase()
    const signature = `DKIM-Signature: v=1; a=rsa-sha256; d=a.example; s=s; h=from:\r\n ${name}; bh=eA==; b=eA==\r\n`
    const message = `${signature}${COMMON}${TO}Subject: s\r\nMIME-Version: 1.0\r\n${field}\r\n\r\nhello\r\n`
    const reply = await client.submit(desk, 'lena@harbor.example', message)
    t.equal((await accepted(service, reply)).text, message.slice(signature.length))
  })
}

for (const written of ['base64,', 'b64', 'base_64']) {
  t.test(`Content-Transfer-Encoding ${written} was written as base64`, async (t) => {
    const client = await openSession(t, service, sender)
    const header = `${COMMON}${TO}Subject: s\r\nMIME-Version: 1.0\r\n`
    const message = `${header}Content-Transfer-Encoding: ${written}\r\n\r\naGVsbG8=\r\n`
    const reply = await client.submit(desk, 'lena@harbor.example', message)
    t.match(reply, 'Content-Transfer-Encoding was written as base64')
    t.equal((await accepted(service, reply)).read.text?.trim(), 'hello')
  })
}

t.test('all headers that were folded are named', async (t) => {
  const client = await openSession(t, service, sender)
  const header = `${TO}Subject: ${WORDS}\r\nReferences: ${IDS.join(' ')}\r\n`
  const reply = await client.submit(desk, 'lena@harbor.example', `${COMMON}${header}\r\nhello\r\n`)
  t.match(reply, '(the headers Subject, References were folded)')
})

t.test('several corrections are named together', async (t) => {
  const client = await openSession(t, service, sender)
  const header = `To : lena@harbor.example\r\nTo: lena@harbor.example\r\nSubject: s\r\n`
  const reply = await client.submit(desk, 'lena@harbor.example', `${COMMON}${header}\r\nhello\r\n`)
  t.match(reply, '(the blank after To was removed; the second field To was removed)')
})

t.test('the first line of a mailbox file is dropped', async (t) => {
  const client = await openSession(t, service, sender)
  const message = `${COMMON}${TO}Subject: s\r\n\r\nhello\r\n`
  const line = `From ${desk} Sun Nov 29 10:00:00 2026\r\n`
  const reply = await client.submit(desk, 'lena@harbor.example', `${line}${message}`)
  t.match(reply, 'the line From of a mailbox file was removed')
  t.equal((await accepted(service, reply)).text, message)
})

t.test('a From with a U-label gets its A-label', async (t) => {
  const own = await service.makeSender()
  const domain = 'xn--mnchen-3ya.example'
  await service.giveKey(domain)
  await service.core.domains.add({ accountId: own.accountId, name: domain, state: 'active' })
  const client = await openSession(t, service, own)
  await client.command(`MAIL FROM:<desk@${domain}> SMTPUTF8`)
  await client.command('RCPT TO:<lena@harbor.example>')
  await client.command('DATA')
  const header =
    'From: Münchner <desk@münchen.example>\r\nDate: Sun, 29 Nov 2026 10:00:00 +0000\r\nMessage-ID: <1@a.example>\r\nSubject: s\r\n'
  const reply = await client.finish(`${header}\r\nhello\r\n`)
  t.match(reply, 'the domain of From was written as xn--mnchen-3ya.example')
  const { text } = await accepted(service, reply)
  t.equal(Buffer.from(text, 'latin1').toString(), `${header.replace('@münchen', '@xn--mnchen-3ya')}\r\nhello\r\n`)
})

/** Fields, and the problem named. */
const REFUSED: readonly (readonly [written: string, problem: string])[] = [
  [
    `${TO}Subject: s\r\nX-${'n'.repeat(1100)}: v\r\n`,
    `the field X-${'n'.repeat(58)} has a line of more than 998 characters`,
  ],
  [`${TO}Subject: F\u00e4hre\r\nSubject: F\u00f6hre\r\n`, 'the field Subject occurs more than once'],
  [
    `${TO}Subject: s\r\nReferences: ${'<a@b.example>'.repeat(100)}\r\n`,
    'the field References has a line of more than 998 characters without a blank',
  ],
  [
    `${TO}Subject: s\r\nContent-Type: text/plain; name=${LONG_WORD}\r\n`,
    'the field Content-Type has a line of more than 998 characters',
  ],
  [`${TO}Subject: s\r\nFrom: other@a.example\r\n`, 'the field From occurs more than once'],
  [`${TO}Subject: one\r\nSubject: two\r\n`, 'the field Subject occurs more than once'],
  [`${TO}Subject: s\r\nTo: other@harbor.example\r\n`, 'the field To occurs more than once'],
  [`${TO}Subject: s\r\nReply-To: a@a.example\r\nreply-to: b@a.example\r\n`, 'the field reply-to occurs more than once'],
  [`${TO}Subject: s\r\nDate: Sun, 29 Nov 2026 11:00:00 +0000\r\n`, 'the field Date occurs more than once'],
  [
    `${TO}Subject: s\r\nContent-Type: text/plain\r\nContent-Type: text/html\r\n`,
    'the field Content-Type occurs more than once',
  ],
  [
    `${TO}Subject: s\r\nList-Unsubscribe: <https://a.example/1>\r\nList-Unsubscribe: <https://a.example/2>\r\n`,
    'the field List-Unsubscribe occurs more than once',
  ],
  [`${TO}no colon here\r\nSubject: s\r\n`, 'line 5 of the header is not a header field'],
  [`${TO}>From somebody\r\nSubject: s\r\n`, 'line 5 of the header is not a header field'],
  [`${TO}Subject: s\r\nFrom ${desk} Sun Nov 29\r\n`, 'line 6 of the header is not a header field'],
  [`${TO}Bad Name: x\r\nSubject: s\r\n`, 'line 5 of the header is not a header field'],
]

for (const [written, problem] of REFUSED) {
  t.test(`refused: ${problem}`, async (t) => {
    const own = await service.makeSender()
    const client = await openSession(t, service, own)
    const message = `${COMMON}${written}\r\nhello\r\n`.replaceAll(desk, `desk@${own.domain}`)
    const reply = await client.submit(`desk@${own.domain}`, 'lena@harbor.example', message)
    t.match(reply, `550 5.6.0 Malformed message: ${problem}`)
    t.strictSame(await stored(service, own), NOTHING)
  })
}

t.test('control fields may be as long and as many as they are', async (t) => {
  const client = await openSession(t, service, sender)
  const header = `X-SMTPAPI: {"category":"${'x'.repeat(200)}","unique_args":{"a":"${LONG_WORD}"}}\r\nX-TAGS: a\r\nX-TAGS: b\r\nBcc: ${LONG_WORD}\r\n`
  const reply = await client.submit(desk, 'lena@harbor.example', `${COMMON}${TO}${header}Subject: s\r\n\r\nhello\r\n`)
  t.notMatch(reply, 'folded')
  t.match(reply, /^250 /)
})
