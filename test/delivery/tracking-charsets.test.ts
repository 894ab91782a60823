import { simpleParser } from 'mailparser'
import t from 'tap'
import { call } from '../api/call.ts'
import { passTime } from '../helpers/pass-time.ts'
import { startSink } from '../helpers/sink.ts'
import { type DeliveryDetails, startOutbox, stepsOf } from './outbox.ts'
import { targetsIn, trackedOf, untracked } from './tracked.ts'

const sink = await startSink(t)
const outbox = await startOutbox(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` }, { tracking: true })
const { service, sender } = outbox
const { copy, verdict } = trackedOf(outbox, sink)
const relay = await outbox.openRelay(t)
const HEAD = `From: Desk <desk@${sender.domain}>\r\nTo: lena@harbor.example\r\nSubject: Berth 4\r\nMIME-Version: 1.0\r\n`
const A = 'https://quay.example/a'

/** What arrived, from the message's own header on. */
async function arrived(type: string, body: Buffer, encoding = '8bit') {
  const fields = `${HEAD}Content-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`
  const sent = Buffer.concat([Buffer.from(fields), body])
  const id = await relay.submit(`desk@${sender.domain}`, 'lena@harbor.example', sent)
  const { data } = await copy(id)
  const own = data.subarray(data.indexOf('\r\nFrom: ') + 2)
  t.equal(await verdict(sender, data), `pass ${sender.domain}`)
  const notes = stepsOf(await outbox.inState(id, 'delivered')).filter(({ step }) => step === 'content')
  return { id, sent, own, mail: await simpleParser(data), notes: notes.map(({ text }) => text) }
}

const hex = (octets: string) => Buffer.from(octets.replaceAll(' ', ''), 'hex')
const around = (before: string, octets: Buffer, after: string) =>
  Buffer.concat([Buffer.from(before), octets, Buffer.from(after)])
const HTML = [`<html><body><p>`, `</p><a href="${A}">x</a></body></html>\r\n`] as const

/** Names of charsets, the octets of some letters, and these letters. The second octets of the first ones are ASCII. */
const LETTERS: readonly [charset: string, octets: string, letters: string][] = [
  ['gb2312', 'c4e3 bac3', '你好'],
  ['gbk', '8c57 bac3', '學好'],
  ['gb18030', '9439fc36 bac3', '😀好'],
  ['big5', 'a55c a6e6', '功行'],
  ['Shift_JIS', '955c 8ea6', '表示'],
  ['euc-jp', 'c9bd bca8', '表示'],
  ['euc-kr', 'b1a4 c8ad', '광화'],
  ['ks_c_5601-1987', 'b1a4 c8ad', '광화'],
  ['cp936', 'c4e3', '你'],
  ['iso-2022-jp', '1b2442 493d3c28 1b2842', '表示'],
  ['macintosh', '8a', 'ä'],
  ['ibm866', '84', 'Д'],
]

t.test('HTML and text in any charset are tracked and become UTF-8', async (t) => {
  for (const [charset, octets, letters] of LETTERS) {
    const html = await arrived(`text/html; charset=${charset}`, around(HTML[0], hex(octets), HTML[1]))
    t.match(html.own.toString(), /^Content-Type: text\/html; charset=utf-8\r$/m, charset)
    t.strictSame(
      targetsIn(String(html.mail.html)).map(({ kind, url }) => `${kind} ${url}`),
      [`click ${A}`, 'open '],
      charset,
    )
    t.equal(untracked(String(html.mail.html)), `${HTML[0]}${letters}${HTML[1]}`.replace('\r\n', '\n'), charset)

    const text = await arrived(`text/plain; charset="${charset}"; format=flowed`, around('', hex(octets), ` ${A}\r\n`))
    t.match(text.own.toString(), /^Content-Type: text\/plain; charset=utf-8; format=flowed\r$/m)
    t.equal(untracked(text.mail.text ?? '').trim(), `${letters} ${A}`, charset)
    t.strictSame([...html.notes, ...text.notes], [])
  }
})

t.test('a charset without ASCII, and one in seven bits, are written so that SMTP can carry them', async (t) => {
  const utf16 = Buffer.from(`${HTML[0]}你好${HTML[1]}`, 'utf16le')
  for (const [charset, octets] of [
    ['utf-16le', utf16],
    ['utf-16', Buffer.concat([hex('fffe'), utf16])],
    ['utf-16', Buffer.concat([hex('feff'), Buffer.from(utf16).swap16()])],
  ] as const) {
    const base64 = `${octets.toString('base64').replace(/.{76}/g, '$&\r\n')}\r\n`
    const { own, mail } = await arrived(`text/html; charset=${charset}`, Buffer.from(base64), 'base64')
    t.match(own.toString(), /charset=utf-8\r\nContent-Transfer-Encoding: base64\r$/m)
    t.equal(untracked(String(mail.html)), `${HTML[0]}你好${HTML[1]}`.replace('\r\n', '\n'))
  }
  const seven = await arrived(
    'text/plain; charset=iso-2022-jp',
    around('', hex('1b2442493d1b2842'), ` ${A}\r\n`),
    '7bit',
  )
  t.match(seven.own.toString(), /charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r$/m)
  t.equal(untracked(seven.mail.text ?? ''), `表 ${A}\n`)
})

t.test('a charset is recognized however programs write it', async (t) => {
  for (const type of [
    `text/html; charset="'utf-8'"`,
    `text/html; charset='utf-8'`,
    'text/html; charset=utf8mb4',
    'text/html; charset="utf-8 (Unicode)"',
    'text/html; charset=utf-8(Unicode)',
    'text/html (a page); charset=gb2312',
    "text/html; charset*=us-ascii'en'gb2312",
    'text/html ; charset = "gb2312"',
  ]) {
    const octets = type.includes('gb2312') ? hex('c4e3') : Buffer.from('你')
    const { own, mail } = await arrived(type, around(HTML[0], octets, HTML[1]))
    t.match(own.toString(), /^Content-Type: text\/html; charset=utf-8\r$/m, type)
    t.equal(untracked(String(mail.html)), `${HTML[0]}你${HTML[1]}`.replace('\r\n', '\n'), type)
  }
})

t.test('HTML that becomes UTF-8 says so in its meta elements too', async (t) => {
  const written = (charset: string) =>
    `<?xml version="1.0" encoding="${charset}"?><html><head><META http-equiv="Content-Type" content="text/html; charset=${charset}">` +
    `<meta charset='${charset}'><meta name="description" content="a charset=gb2312 page"></head><body>x <a href="${A}">charset=gb2312</a></body></html>\r\n`
  const { mail } = await arrived('text/html; charset=gb2312', Buffer.from(written('gb2312')))
  t.equal(untracked(String(mail.html)), written('utf-8').replace('\r\n', '\n'))
  const kept = await arrived('text/html; charset=iso-8859-1', Buffer.from(written('iso-8859-1')))
  t.equal(untracked(String(kept.mail.html)), written('iso-8859-1').replace('\r\n', '\n'), 'one that stays as it was')
})

const page = (octets: string) => around(HTML[0], hex(octets), HTML[1])
/** Delivered octet for octet, and what the attempt says of it. */
const KEPT: readonly [type: string, body: Buffer, note: string][] = [
  ['text/html; charset=x-harbor', page(''), 'nothing added to text/html: unknown charset x-harbor'],
  ['text/html; charset=hz-gb-2312', page(''), 'nothing added to text/html: unknown charset hz-gb-2312'],
  ['text/html; charset="a\\"b c"', page(''), 'nothing added to text/html: unknown charset'],
  ['text/html; charset=gbk; charset=big5', page('c4e3'), 'nothing added to text/html: unknown charset'],
  ['text/html; charset=x-user-defined', page('c4'), 'nothing added to text/html: unknown charset x-user-defined'],
  ['text/html; charset=utf-16', Buffer.from('<p>x'), 'nothing added to text/html: unknown charset utf-16'],
  ['text/html; charset=gbk', page('c4'), 'nothing added to text/html: does not decode without loss from gbk'],
  // Node's decoders make private or control characters of letters that they lack.
  ['text/html; charset=euc-kr', page('8141'), 'nothing added to text/html: does not decode without loss from euc-kr'],
  ['text/html; charset=big5', page('8740'), 'nothing added to text/html: does not decode without loss from big5'],
  [
    'text/html; charset=shift_jis',
    page('7f'),
    'nothing added to text/html: does not decode without loss from shift_jis',
  ],
  [
    'text/html; charset=iso-2022-jp',
    page('1b244246'),
    'nothing added to text/html: does not decode without loss from iso-2022-jp',
  ],
  [
    'text/plain; charset=gbk',
    Buffer.from(`-----BEGIN PGP MESSAGE-----\r\n${A}\r\n`),
    'nothing added to text/plain: signed or encrypted by PGP',
  ],
  [
    'multipart/signed; boundary=b',
    Buffer.from(`--b\r\nContent-Type: text/html; charset=gbk\r\n\r\n<p>x</p>\r\n--b--\r\n`),
    'nothing added to the text: multipart/signed must not be changed',
  ],
  [
    'application/pkcs7-mime',
    Buffer.from('AAAA\r\n'),
    'nothing added to the text: application/pkcs7-mime must not be changed',
  ],
  ['application/pdf', Buffer.from('AAAA\r\n'), 'nothing added: the message has no text that can be changed'],
]

t.test('a part that must stay as it is stays octet for octet, and the attempt says why', async (t) => {
  for (const [type, body, note] of KEPT) {
    const { own, sent, notes } = await arrived(type, Buffer.concat([body, Buffer.from('\r\n')]), '8bit')
    t.strictSame(own, sent, type)
    t.strictSame(notes, [note])
  }
})

t.test('no step is recorded for a part to which nothing would be added', async (t) => {
  await service.sql`update accounts set click_tracking = false where id = ${sender.accountId}`
  passTime(3100)
  const { own, sent, notes } = await arrived('text/plain; charset=x-harbor', Buffer.from(`${A}\r\n`))
  t.strictSame(own, sent)
  t.strictSame(notes, [], 'a text has no pixel')
  await service.sql`update accounts set click_tracking = true where id = ${sender.accountId}`
  passTime(3100)
})

t.test('GET /v2/messages/ID shows the reason in the conversation', async (t) => {
  const { id } = await arrived('text/html; charset=x-harbor', page(''))
  const { json } = await call(`http://127.0.0.1:${service.config.apiPort}`, {
    method: 'GET',
    path: `/v2/messages/${id}`,
    headers: { api_key: sender.apiKey },
  })
  const { deliveries } = (json?.data ?? {}) as { readonly deliveries: readonly DeliveryDetails[] }
  const steps = deliveries.flatMap(stepsOf)
  t.match(
    steps.find(({ step }) => step === 'content'),
    { text: 'nothing added to text/html: unknown charset x-harbor' },
  )
})
