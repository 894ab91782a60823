import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import t from 'tap'
import { RelaxedBody } from '../../packages/delivery/src/message/relaxed-body.ts'
import { startSink } from '../helpers/sink.ts'
import { startOutbox } from './outbox.ts'

const sink = await startSink(t)
const outbox = await startOutbox(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` })
const { domain } = outbox.sender
const relay = await outbox.openRelay(t)

/** What another's verifier says of the message, given the record that the service asks to be published. */
async function verdict(message: Buffer | string): Promise<string> {
  const { dns } = await outbox.service.core.domains.show(domain)
  const { results } = await dkimVerify(Buffer.from(message), {
    resolver: async (name, type) => {
      const record = dns.find(({ host }) => host === name)
      if (type !== 'TXT' || !record) throw Object.assign(new Error('no such record'), { code: 'ENOTFOUND' })
      return [[record.value]]
    },
  })
  return results.map(({ signingDomain, status }) => `${status.result} ${signingDomain}`).join()
}

const PASS = `pass ${domain}`

/** As it was on the wire. */
async function delivered(id: string): Promise<Buffer> {
  await outbox.inState(id, 'delivered')
  const found = sink.messages.find(({ data }) => data.includes(id))
  if (!found) throw new Error(`message ${id} did not arrive`)
  return found.data
}

const html = (text: string): Record<string, unknown> => ({ content: `<p>${text}</p>` })
const COMPOSED: Readonly<Record<string, Record<string, unknown>>> = {
  'of one part': {},
  'with non-ASCII text and subject': { ...html('Grüße aus 東京 📫'), subject: 'Liegeplatz für die „Möwe“ 船' },
  'with long lines': html('long '.repeat(5000)),
  'with blanks at line ends': html('one  \n two\t\n\n\n three \t \n\n\n'),
  'with an attachment': {
    attachments: [{ fileName: 'plan – süd.pdf', fileContent: Buffer.alloc(5000, 'plan').toString('base64') }],
  },
  'with dots at the start of lines': html('\n.\n..\n.x\n'),
}

for (const [what, extra] of Object.entries(COMPOSED)) {
  t.test(`the signature of a composed message ${what} verifies`, async (t) => {
    t.equal(await verdict(await delivered(await outbox.send('a@harbor.example', extra))), PASS)
  })
}

const head = `From: Desk <desk@${domain}>\r\nTo: a@harbor.example\r\nSubject: Berth 4\r\n`
const RELAYED: Readonly<Record<string, string>> = {
  'with odd folds': `From:\r\n\tDesk\r\n  <desk@${domain}>\r\nSUBJECT  :Berth \t 4\r\n \r\n\tand 5 \t\r\nTo:\ta@harbor.example  \r\n\r\nx\r\n`,
  'with blanks at line ends': `${head}\r\none \t\r\n\ttwo\t\t\r\n \r\n \t \r\n`,
  'with an empty body': `${head}\r\n`,
  'with a body of empty lines': `${head}\r\n\r\n\r\n\r\n`,
  'with empty lines at the end': `${head}\r\nx\r\n\r\n\r\n\r\n`,
  'with two fields of a name that is signed': `Resent-To: b@harbor.example\r\nResent-To: c@harbor.example\r\n${head}\r\nx\r\n`,
  'with raw UTF-8 in its header': `${head}X-Note: Grüße\r\n\r\nGrüße\r\n`,
  // à is C3 A0, and A0 is a blank of latin1.
  'with à at the end of its header': `From: Desk <desk@${domain}>\r\nTo: a@harbor.example\r\nSubject: Voilà\r\n\r\nx\r\n`,
  'with a signature of somebody else': `DKIM-Signature: v=1; a=rsa-sha256; d=other.example; s=x; h=from; bh=; b=\r\n${head}\r\nx\r\n`,
  'with all there is': [
    `${head}Cc: c@harbor.example\r\nReply-To: r@harbor.example\r\nDate: Fri, 20 Nov 2026 10:00:00 +0000\r\n`,
    `Message-ID: <1@${domain}>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nList-Id: <l.${domain}>\r\n`,
    `List-Unsubscribe: <https://${domain}/u>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n`,
    `In-Reply-To: <0@${domain}>\r\nReferences: <0@${domain}>\r\n\r\nx\r\n`,
  ].join(''),
}

for (const [what, message] of Object.entries(RELAYED)) {
  t.test(`the signature of a relayed message ${what} verifies`, async (t) => {
    const id = await relay.submit(`desk@${domain}`, 'a@harbor.example', message)
    t.match((await verdict(await delivered(id))).split(','), [PASS])
  })
}

const ADDED = [
  'From',
  'To',
  'Cc',
  'Subject',
  'Date',
  'Reply-To',
  'Message-ID',
  'Content-Type',
  'MIME-Version',
  'List-Id',
  'List-Unsubscribe',
  'List-Unsubscribe-Post',
  'List-Help',
]

t.test('a field added above or below breaks the signature, whether there was one before or not', async (t) => {
  const full = await relay.submit(`desk@${domain}`, 'a@harbor.example', RELAYED['with all there is'] as string)
  const bare = await relay.submit(`desk@${domain}`, 'a@harbor.example', RELAYED['with an empty body'] as string)
  for (const id of [full, bare]) {
    const message = (await delivered(id)).toString('latin1')
    for (const name of ADDED) {
      const field = `${name}: evil@evil.test\r\n`
      t.match(await verdict(field + message), /^(fail|neutral)/, `${name} above`)
      t.match(await verdict(message.replace('\r\n\r\n', `\r\n${field}\r\n`)), /^(fail|neutral)/, `${name} below`)
    }
  }
})

t.test('a changed word breaks the signature, wherever it stands', async (t) => {
  const message = (await delivered(await outbox.send('a@harbor.example'))).toString()
  for (const [was, is] of [
    ['Your berth', 'Your birth'],
    ['Subject: Berth 4', 'Subject: Berth 5'],
    ['Ship Desk', 'Ship Disk'],
    ['text/html', 'text/plain'],
    ['</p>\r\n', '</p>\r\nadded\r\n'],
  ] as const) {
    t.ok(message.includes(was))
    t.match(await verdict(message.replace(was, is)), /^(fail|neutral)/, `${was} → ${is}`)
  }
  t.equal(
    await verdict(`Received: from elsewhere\r\n${message}\r\n\r\n`),
    PASS,
    'what every hop does to a message does not',
  )
})

t.test('the signature covers the whole body, is good for a week at most, and names what it covers', async (t) => {
  const message = (await delivered(await outbox.send('a@harbor.example'))).toString()
  const field = /^DKIM-Signature: ((?:[^\r]|\r\n[ \t])*)\r\n/i.exec(message)?.[1]?.replace(/\s+/g, '') ?? ''
  const tags = new Map(field.split(';').map((tag) => [tag.slice(0, tag.indexOf('=')), tag.slice(tag.indexOf('=') + 1)]))
  t.equal(tags.get('a'), 'rsa-sha256')
  t.equal(tags.get('c'), 'relaxed/relaxed')
  t.equal(tags.get('d'), domain)
  t.notOk(tags.has('l'))
  const [signed, until] = [Number(tags.get('t')), Number(tags.get('x'))]
  t.ok(until > signed && until - signed <= 7 * 86_400)
  t.ok(Math.abs(signed - Date.now() / 1000) < 120)
  const names = tags.get('h')?.split(':') ?? []
  t.equal(names.filter((name) => name === 'from').length, 2)
  t.equal(names.filter((name) => name === 'reply-to').length, 1)
  for (const line of message.slice(0, message.indexOf('\r\n\r\n')).split('\r\n')) t.ok(line.length <= 78, line)
})

/** RFC 6376 3.4.4 and 3.4.5. */
const BODIES: readonly (readonly [body: string, relaxed: string])[] = [
  [' C \r\nD \t E\r\n\r\n\r\n', ' C\r\nD E\r\n'],
  ['', ''],
  ['\r\n', ''],
  ['\r\n\r\n\r\n', ''],
  [' \t\r\n \r\n', ''],
  ['x', 'x\r\n'],
  ['x \t', 'x\r\n'],
  ['x\r\n', 'x\r\n'],
  ['x\r\n\r\n \r\n\t\r\n', 'x\r\n'],
  ['\r\nx', '\r\nx\r\n'],
  ['\t\tx', ' x\r\n'],
  ['a  \r\n  b', 'a\r\n b\r\n'],
  ['a\r\n\r\nb\r\n', 'a\r\n\r\nb\r\n'],
  ['a\rb\nc', 'a\rb\nc\r\n'],
  // Long stretches without a blank are not looked at octet by octet.
  ['x'.repeat(300), `${'x'.repeat(300)}\r\n`],
  [`${'x'.repeat(300)}\r\n\r\n${'y'.repeat(300)}\r\n\r\n`, `${'x'.repeat(300)}\r\n\r\n${'y'.repeat(300)}\r\n`],
  [`${'x'.repeat(300)} \r\n${'y'.repeat(70)}\r\n\t`, `${'x'.repeat(300)}\r\n${'y'.repeat(70)}\r\n`],
]

function relaxedForm(pieces: readonly Buffer[]): string {
  let text = ''
  const form = new RelaxedBody((piece) => (text += piece.toString()))
  for (const piece of pieces) form.add(piece)
  form.end()
  return text
}

for (const [body, relaxed] of BODIES) {
  t.test(
    `the relaxed form of ${JSON.stringify(body.slice(0, 40))} is ${JSON.stringify(relaxed.slice(0, 40))}`,
    async (t) => {
      t.equal(relaxedForm([Buffer.from(body)]), relaxed)
      t.equal(relaxedForm([...body].map((octet) => Buffer.from(octet))), relaxed, 'whatever pieces it comes in')
    },
  )
}
