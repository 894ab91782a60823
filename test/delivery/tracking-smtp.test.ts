import { simpleParser } from 'mailparser'
import { createTransport } from 'nodemailer'
import t from 'tap'
import { moveClock } from '../helpers/database.ts'
import { passTime } from '../helpers/pass-time.ts'
import { startSink } from '../helpers/sink.ts'
import { startOutbox } from './outbox.ts'
import { headerOf, targetsIn, trackedOf, untracked } from './tracked.ts'

const refused = new Set<string>()
const offered: Buffer[] = []
const sink = await startSink(t, {
  dot({ message: { data, to } }) {
    if (data && to[0]?.startsWith('again.')) offered.push(data)
    return refused.has(to[0] ?? '') ? '451 4.3.0 later' : undefined
  },
})
const outbox = await startOutbox(t, { DELIVERY: `smtp://127.0.0.1:${sink.port}` }, { tracking: true })
const { service, sender } = outbox
const { copies, copy, verdict } = trackedOf(outbox, sink)
const relay = await outbox.openRelay(t)
const PASS = `pass ${sender.domain}`
const HEAD = [
  `From: Desk <desk@${sender.domain}>\r\nTo: lena@harbor.example\r\nSubject: Berth 4\r\n`,
  `Date: Fri, 20 Nov 2026 10:00:00 +0000\r\nMessage-ID: <1@${sender.domain}>\r\nMIME-Version: 1.0\r\n`,
].join('')
const URL_A = 'https://quay.example/a?b=1&c=2'
const ANCHOR = `<a href="https://quay.example/a?b=1&amp;c=2">x</a>`

async function set(values: Record<string, unknown>): Promise<void> {
  await service.sql`update accounts set ${service.sql(values)} where id = ${sender.accountId}`
  // What a process knows of an account may be 3 s old.
  passTime(3100)
}

const submit = (
  message: string | Buffer,
  to: string | string[] = 'lena@harbor.example',
  from = `desk@${sender.domain}`,
) => relay.submit(from, to, message)

/** What arrived, from our Received field on, and what stands behind that field. */
async function arrived(message: string | Buffer): Promise<{ data: Buffer; own: string; id: string }> {
  const id = await submit(message)
  const { data } = await copy(id)
  return { data, id, own: data.toString('latin1', data.indexOf('\r\nFrom: ') + 2) }
}

const urls = (text: string) => targetsIn(text).map(({ kind, url }) => `${kind} ${url}`.trim())
const plain = (body: string, fields = '') => `${HEAD}${fields}\r\n${body}`

t.test('a text without a header of its own is tracked, and nothing else changes', async (t) => {
  const body = `See ${URL_A} (${URL_A}) <${URL_A}>\r\nor http://quay.example\r\n.dots\r\n  blanks  \r\n\r\nEnd: HTTPS://QUAY.example/x\r\n`
  const { data, own, id } = await arrived(plain(body))
  t.equal(untracked(own), plain(body))
  t.strictSame(
    targetsIn(own),
    [URL_A, URL_A, URL_A, 'http://quay.example', 'HTTPS://QUAY.example/x'].map((url, link) => ({
      kind: 'click',
      accountId: sender.accountId,
      messageId: id,
      recipientNo: 0,
      group: 0,
      link,
      url,
    })),
  )
  t.equal(await verdict(sender, data), PASS)
})

const A = 'https://quay.example/a'
/** What a text says, and the URLs in it that are tracked: those whose end no mail program sees elsewhere. */
const TEXTS: readonly [text: string, urls: readonly string[]][] = [
  [A, [A]],
  [`Berth: ${A} (pier 4)`, [A]],
  [`${A}\t${A}`, [A, A]],
  [`"${A}"`, [A]],
  [`'${A}'`, [A]],
  [`<${A}>`, [A]],
  [`<URL:${A}>`, [A]],
  [`(see ${A}).`, [A]],
  [`[1: ${A}], and`, [A]],
  [`Berth: ${A}=`, [`${A}=`]],
  [`${A}/?to=https://quay.example/b`, [`${A}/?to=https://quay.example/b`]],
  [`${A}?t=x_y-z.1~2*3,4;5!6`, [`${A}?t=x_y-z.1~2*3,4;5!6`]],
  [`See\r\n${A}\r\nThanks`, [A]],
  // What ends a sentence may belong to the URL.
  ...['.', ',', ';', ':', '!', '?', '...', '.)'].map((end): [string, readonly string[]] => [`${A}${end}`, []]),
  // What some mail programs drop at the end: reset tokens may end so.
  ...['_', '-', '~', '*', "'", '+', '%', '#', '&', '$', '@'].map((end): [string, readonly string[]] => [
    `${A}?t=1${end}`,
    [],
  ]),
  // What some take for markup, or for the end.
  ...['|', '{', '}', '^', '`', '\\', '<', '>', '"'].map((mark): [string, readonly string[]] => [`${A}${mark} x`, []]),
  ...['|', '{', '}', '^', '`', '\\', '*', '_', '~'].map((mark): [string, readonly string[]] => [`${mark}${A} x`, []]),
  [`[${A}](${A})`, []],
  [`[berth](${A})`, []],
  [`![](${A})`, []],
  [`*${A}*!?`, []],
  [`${A})`, []],
  [`${A}]`, []],
  [`(${A}_(b))`, []],
  [`${A}_(b)`, []],
  [`${A}?filter[x]=1`, []],
  [`(${A})b`, []],
  [`(see) ${A})`, []],
  [`${A},https://quay.example/b`, []],
  [`${A};https://quay.example/b`, []],
  [`<${A}\r\nb>`, []],
  [`<${A} b>`, []],
  [`x${A}`, []],
  // Within another URL, which is the link.
  [`www.quay.example/login?next=${A}`, []],
  [`https://bücher.example/?u=${A}`, []],
  [`(whatsapp://send?text=${A})`, []],
  [`Berth:${A}`, []],
  // An apostrophe may belong to the URL.
  [`Read ${A}'s page`, []],
  [`${A}?t=3'4`, []],
  // What may go on in the next line.
  [`${A}?x=\r\nb`, []],
  [`${A}\r\n&y=2`, []],
  [`(${A}\r\nb)`, []],
  // What leads nowhere.
  ['http:///x https://*.quay.example/a', []],
  ['https://', []],
  ['mailto:a@quay.example ftp://quay.example www.quay.example //quay.example', []],
  ['https://quay.example/Süd', []],
  ['„https://quay.example/süd“', []],
  [`„${A}“ – ${A}… ${A}`, [A]],
  [`详情${A}。详情`, []],
  [`${A}进入`, []],
  [`${A}\u00a0x`, []],
  [`${A}\u3000x`, []],
]
t.test('the URLs of a text are tracked where all readers see the same end, and nothing else is changed', async (t) => {
  const fields = 'Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n'
  const ids: string[] = []
  for (const [text] of TEXTS) ids.push(await submit(plain(`${text}\r\n`, fields)))
  for (const [at, [text, expected]] of TEXTS.entries()) {
    const { data } = await copy(ids[at] as string)
    const own = data.toString().slice(data.toString().indexOf('\r\n\r\n') + 4)
    t.strictSame(
      targetsIn(own).map(({ url }) => url),
      expected,
      text,
    )
    t.equal(untracked(own), `${text}\r\n`)
  }
})

t.test('HTML gets its pixel and keeps every other octet, in its encoding and charset', async (t) => {
  const type = (charset: string, encoding: string) =>
    `Content-Type: text/html; charset=${charset}\r\nContent-Transfer-Encoding: ${encoding}\r\n`
  const html = `<html><body>\xfcber ${ANCHOR}</body></html>\r\n`
  const back = (text: string) => untracked(text, (url) => url.replace('&', '&amp;'))
  for (const charset of ['utf-8', '"ISO-8859-1"', 'windows-1252', 'utf8', 'koi8-r']) {
    const { own, data } = await arrived(Buffer.from(plain(html, type(charset, '8bit')), 'latin1'))
    t.equal(back(own), plain(html, type(charset, '8bit')), charset)
    t.strictSame(urls(own), [`click ${URL_A}`, 'open'])
    t.equal(await verdict(sender, data), PASS)
  }
  const base64 = (text: string) => `${Buffer.from(text, 'latin1').toString('base64').replace(/.{76}/g, '$&\r\n')}\r\n`
  const encoded = await arrived(plain(base64(html), type('iso-8859-1', 'BASE64')))
  const [head = '', body = ''] = encoded.own.split('\r\n\r\n')
  t.equal(`${head}\r\n\r\n`, plain('', type('iso-8859-1', 'BASE64')))
  t.equal(back(Buffer.from(body, 'base64').toString('latin1')), html)
  t.ok(body.split('\r\n').every(({ length }) => length <= 76))
  t.equal(await verdict(sender, encoded.data), PASS)

  const quoted = `<p>=FCber =\r\n=3D  \r\n<a href=3D"https://quay.example/a?b=3D1&amp;c=3D2">=\r\nx</a></p>`
  const { own, data } = await arrived(plain(`${quoted}\r\n`, type('iso-8859-1', 'quoted-printable')))
  t.ok(own.startsWith(plain('', type('iso-8859-1', 'quoted-printable'))))
  const read = (await simpleParser(data)).html as string
  t.equal(back(read), `<p>über =\n${ANCHOR}</p>\n`)
  t.equal(await verdict(sender, data), PASS)
})

t.test('a link in the letters of its charset leads where it led', async (t) => {
  const letters: readonly [charset: string, octets: readonly number[], url: string][] = [
    ['iso-8859-1', [0xe4], '%C3%A4'],
    ['koi8-r', [0xe4], '%D0%94'],
    ['utf-8', [0xd0, 0x94], '%D0%94'],
  ]
  for (const [charset, octets, escaped] of letters) {
    const fields = `Content-Type: text/html; charset=${charset}\r\nContent-Transfer-Encoding: 8bit\r\n`
    const anchor = `<a href="https://quay.example/${String.fromCharCode(...octets)}&ouml;">x</a>`
    const { own } = await arrived(Buffer.from(plain(`${anchor}\r\n`, fields), 'latin1'))
    t.strictSame(urls(own), [`click https://quay.example/${escaped}%C3%B6`, 'open'])
  }
})

t.test('lines that grow too long for SMTP make the part quoted-printable', async (t) => {
  const html = `${'<i></i>'.repeat(100)}${ANCHOR.repeat(3)}\r\n`
  const fields = 'Content-Transfer-Encoding: 7bit\r\nContent-Type: text/html\r\n'
  const { data, own } = await arrived(plain(html, fields))
  t.match(headerOf(Buffer.from(own)), /^Content-Transfer-Encoding: quoted-printable\r\nContent-Type: text\/html\r\n$/m)
  t.ok(own.split('\r\n').every(({ length }) => length < 999))
  t.equal(
    untracked(String((await simpleParser(data)).html), (url) => url.replace('&', '&amp;')),
    html.replace('\r\n', '\n'),
  )
  t.equal(await verdict(sender, data), PASS)
})

const part = (fields: string, body: string) => `${fields}\r\n\r\n${body}`
const multipart = (kind: string, boundary: string, ...parts: string[]) =>
  part(
    `Content-Type: multipart/${kind};\r\n boundary="${boundary}"`,
    `preamble https://quay.example/p\r\n${parts.map((text) => `--${boundary}\r\n${text}\r\n`).join('')}--${boundary}--\r\nepilogue https://quay.example/e`,
  )
const TEXT = part('Content-Type: text/plain', URL_A)
const MARKUP = part('Content-Type: text/html', ANCHOR)

t.test(
  'the first text and the first HTML of a nested message are added to, all else stays octet for octet',
  async (t) => {
    const message = `${HEAD}${multipart(
      'mixed',
      'outer',
      multipart(
        'related',
        'outer2',
        multipart('alternative', 'in "ner'.replace(' "', '='), TEXT, MARKUP),
        part('Content-Type: image/png\r\nContent-Transfer-Encoding: base64', 'AAAA'),
      ),
      part('Content-Type: text/plain', `second ${URL_A}`),
      part('Content-Type: text/html; name=a.html', ANCHOR),
      part('Content-Type: text/html\r\nContent-Disposition: attachment', ANCHOR),
      part('Content-Type: message/rfc822', `${HEAD}Content-Type: text/html\r\n\r\n${ANCHOR}`),
    )}\r\n`
    const { own, data } = await arrived(message)
    t.equal(
      untracked(own, (url) => (own.includes('never') ? url : url)).replace(
        `<a href="${URL_A}">`,
        '<a href="https://quay.example/a?b=1&amp;c=2">',
      ),
      message,
    )
    t.strictSame(
      targetsIn(own).map(({ kind, link }) => `${kind} ${link}`),
      ['click 0', 'click 1', 'open 0'],
    )
    t.equal(await verdict(sender, data), PASS)
  },
)

/** Delivered octet for octet, with everything on. */
const UNTOUCHED: Readonly<Record<string, string>> = {
  'a signed message': multipart('signed', 'b', TEXT, part('Content-Type: application/pgp-signature', 'x')),
  'an encrypted message': multipart('encrypted', 'b', TEXT, MARKUP),
  'a signed part': multipart('mixed', 'a', multipart('signed', 'b', TEXT, MARKUP)),
  'a report': multipart('report', 'b', TEXT, part('Content-Type: message/delivery-status', 'x')),
  'S/MIME': part(
    'Content-Type: application/pkcs7-mime; smime-type=enveloped-data\r\nContent-Transfer-Encoding: base64',
    'AAAA',
  ),
  'PGP in a text': part(
    'Content-Type: text/plain',
    `-----BEGIN PGP SIGNED MESSAGE-----\r\n\r\n${URL_A}\r\n-----BEGIN PGP SIGNATURE-----`,
  ),
  'a message in a message': part('Content-Type: message/rfc822', `${HEAD}\r\n${URL_A}`),
  'attachments alone': multipart(
    'mixed',
    'b',
    part('Content-Type: text/html\r\nContent-Disposition: attachment; filename=a.html', ANCHOR),
    part("Content-Type: text/plain\r\nContent-Disposition: inline; filename*=utf-8''a", URL_A),
  ),
  'an unknown charset': part('Content-Type: text/html; charset=x-harbor', ANCHOR),
  'an unknown encoding': part('Content-Type: text/html\r\nContent-Transfer-Encoding: x-uuencode', ANCHOR),
  'broken base64': part('Content-Type: text/html\r\nContent-Transfer-Encoding: base64', 'PGEgaHJlZj0=aHR0\r\n!!'),
  'broken quoted-printable': part(
    'Content-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable',
    `${ANCHOR.replaceAll('=', '=3D')}=ZZ`,
  ),
  'a type nobody can read': part('Content-Type: text (html)/html', ANCHOR),
  'a multipart without boundary': part('Content-Type: multipart/mixed', `--b\r\n${MARKUP}\r\n--b--`),
  'a boundary that never comes': part('Content-Type: multipart/mixed; boundary=c', `--b\r\n${MARKUP}\r\n--b--`),
  'a checksum': part('Content-Type: text/html\r\nContent-MD5: Q2hlY2sgSW50ZWdyaXR5IQ==', ANCHOR),
  'a text whose lines go on': part('Content-Type: text/plain; format=flowed; delsp=yes', URL_A),
  'parts in parts': Array.from({ length: 12 }).reduce<string>(
    (inner, _, depth) => multipart('mixed', `d${depth}x`, inner),
    MARKUP,
  ),
  'another type': part('Content-Type: text/calendar', URL_A),
}

t.test(
  'what is signed, encrypted, of another sender or not clearly readable is delivered octet for octet',
  async (t) => {
    for (const [what, body] of Object.entries(UNTOUCHED)) {
      const { own, data } = await arrived(`${HEAD}${body}\r\n`)
      t.equal(own, `${HEAD}${body}\r\n`, what)
      t.equal(await verdict(sender, data), PASS)
    }
  },
)

t.test('a part that is never closed is a part all the same', async (t) => {
  const message = `${HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b  \r\nContent-Type: text/html\r\n\r\n${ANCHOR}\r\n--bb\r\n`
  const { own } = await arrived(message)
  t.strictSame(urls(own), [`click ${URL_A}`, 'open'])
  t.equal(
    untracked(own, (url) => url.replace('&', '&amp;')),
    message,
  )
})

t.test('with nothing on, or nothing to add to, mail is delivered octet for octet', async (t) => {
  const off = ['X-CLICKTRACK: 0\r\nX-OPENTRACK: 0\r\n', 'X-SETTINGS: {"clicktrack":0,"opentrack":0}\r\n']
  for (const fields of off) {
    const { own } = await arrived(`${HEAD}${fields}${MARKUP}\r\n`)
    t.equal(own, `${HEAD}${MARKUP}\r\n`)
  }
  t.equal((await arrived(plain('no link\r\n'))).own, plain('no link\r\n'))
  const answer = await submit(`${HEAD}X-UNSUBSCRIBE: 1\r\n${MARKUP}\r\n`, undefined, '')
  t.ok((await copy(answer)).data.toString().endsWith(`${HEAD}${MARKUP}\r\n`), 'the answer of a program (MAIL FROM:<>)')
})

t.test('each recipient has different links, and a retry sends the same octets', async (t) => {
  const to = ['a@harbor.example', 'again.b@harbor.example', 'c@quay.example']
  refused.add('again.b@harbor.example')
  const id = await submit(
    `${HEAD}X-SETTINGS: {"unsubscribe":1}\r\n${multipart('alternative', 'b', TEXT, MARKUP)}\r\n`,
    to,
  )
  await outbox.attempted(id, 1, 1)
  refused.clear()
  await moveClock(service.sql, '30 minutes')
  const seen = (await copies(id, 3)).map(({ data }) => data)
  t.strictSame(
    seen.map((data) => [...new Set(targetsIn(data.toString()).map(({ recipientNo }) => recipientNo))]),
    [[0], [1], [2]],
  )
  for (const data of seen) t.equal(await verdict(sender, data), PASS)
  t.equal(offered.length, 2)
  t.strictSame(offered[1], offered[0])
})

t.test('unsubscribing by SMTP: the signed header below our trace field, the tag or a line in each text', async (t) => {
  const message = `${HEAD}X-UNSUBSCRIBE: 1\r\nX-OPENTRACK: 0\r\n${multipart(
    'alternative',
    'b',
    part('Content-Type: ' + 'text/plain', 'Leave: [%UNSUBSCRIBE_URL%] [%NAME%]'),
    MARKUP,
  )}\r\n`
  const { data, id } = await arrived(message)
  const header = headerOf(data)
  t.match(
    header,
    /^DKIM-Signature:(.|\r\n )*\r\nX-PR-Ref: \S+\r\nFeedback-ID: \S+\r\nReceived:(.|\r\n )*\r\nList-Unsubscribe: <\S+\/t\/u\/\S+>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\nFrom:/,
  )
  t.equal(await verdict(sender, data), PASS)
  const { text, html } = await simpleParser(data)
  const leave = {
    kind: 'unsubscribe',
    accountId: sender.accountId,
    messageId: id,
    recipientNo: 0,
    group: 0,
    link: 0,
    // The hash that holds when the address is forgotten.
    url: targetsIn(header)[0]?.url,
  }
  t.match(leave.url, /^[\w-]{43}$/)
  t.match(text, /^Leave: http\S+ \[%NAME%\]$/m)
  t.strictSame(targetsIn(text ?? ''), [leave])
  t.strictSame(targetsIn(html as string).slice(1), [leave])
  t.strictSame(targetsIn(header), [leave])

  const own = `${HEAD}List-Unsubscribe: <https://quay.example/leave>\r\nX-UNSUBSCRIBE: 1\r\n\r\nx\r\n`
  const arrivedOwn = await arrived(own)
  t.strictSame(
    headerOf(arrivedOwn.data)
      .match(/^list-unsubscribe.*$/gim)
      ?.map((line) => line.trim()),
    ['List-Unsubscribe: <https://quay.example/leave>'],
  )
  t.match(arrivedOwn.own, /\r\n\r\nx\r\n\r\nUnsubscribe: http\S+\r\n$/)
})

t.test('a footer goes into each text in what letters the text has, else the text becomes UTF-8', async (t) => {
  await set({ footer_html: '<p>Grüße, [%PIER%] €</p>', footer_text: 'Grüße, [%PIER%] – 船' })
  const fields = 'X-OPENTRACK: 0\r\nX-ATTRIBUTES: {"PIER":"Pier 4"}\r\n'
  const latin1 = (text: string) => Buffer.from(text, 'latin1')
  const both = multipart(
    'alternative',
    'b',
    part('Content-Type: text/plain; charset=us-ascii; format=flowed', 'x'),
    part('Content-Type: text/html; charset=iso-8859-1', '<p>x</p>'),
  )
  const first = await simpleParser((await arrived(`${HEAD}${fields}${both}\r\n`)).data)
  t.equal(first.text, 'x\n\nGrüße, Pier 4 – 船')
  t.equal(first.html, '<p>x</p><p>Gr&#252;&#223;e, Pier 4 &#8364;</p>')
  const message = `${HEAD}${fields}Content-Transfer-Encoding: 8bit\r\nContent-Type: text/plain; charset=iso-8859-15\r\n\r\n\xa4 \xfc\r\n`
  const { data, own } = await arrived(latin1(message))
  t.equal((await simpleParser(data)).text, '€ ü\n\nGrüße, Pier 4 – 船\n')
  t.match(own, /^Content-Type: text\/plain; charset=utf-8\r$/m)
  t.equal(await verdict(sender, data), PASS)
  t.match((await arrived(`${HEAD}X-FOOTER: 0\r\n\r\nx\r\n`)).own, /\r\n\r\nx\r\n$/)
  await set({ footer_html: null, footer_text: 'Gr\u00fc\u00dfe' })
  const kept = await arrived(
    latin1(`${HEAD}Content-Transfer-Encoding: 8bit\r\nContent-Type: text/plain; charset=iso-8859-15\r\n\r\n\xa4\r\n`),
  )
  t.ok(kept.own.endsWith('charset=iso-8859-15\r\n\r\n\xa4\r\n\r\nGr\xfc\xdfe\r\n'))
  await set({ footer_text: null })
})

t.test('a text that names no charset and is UTF-8 keeps its letters, in links too', async (t) => {
  const anchor = '<a href="https://quay.example/Köln">Köln</a>'
  for (const type of ['text/html', 'text/html; charset=us-ascii']) {
    const { own } = await arrived(
      Buffer.from(`${HEAD}Content-Transfer-Encoding: 8bit\r\nContent-Type: ${type}\r\n\r\n${anchor}\r\n`),
    )
    t.strictSame(urls(own), ['click https://quay.example/K%C3%B6ln', 'open'], type)
  }
  const windows = Buffer.from(
    `${HEAD}Content-Transfer-Encoding: 8bit\r\nContent-Type: text/html\r\n\r\n${anchor}\r\n`,
    'latin1',
  )
  t.strictSame(urls((await arrived(windows)).own), ['click https://quay.example/K%C3%B6ln', 'open'], 'Windows-1252')
  await set({ footer_text: 'Grüße' })
  const { data } = await arrived(Buffer.from(`${HEAD}\r\nKöln\r\n`))
  t.equal((await simpleParser(data)).text, 'Köln\n\nGrüße\n')
  await set({ footer_text: null })
})

t.test('what a mail program writes is tracked and reads as before', async (t) => {
  const amp = '<!doctype html><html amp4email><a href="https://quay.example/amp">x</a></html>'
  const logo = Buffer.alloc(300, 'logo')
  const mailer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
  const text = `Liebe Zoë,\n\n${'ein langer Satz mit Umlauten äöü '.repeat(9)}\n${URL_A}\n`
  const html = `<p>Liebe Zoë, ${'ein langer Satz äöü '.repeat(60)}</p><p>${ANCHOR}<img src="cid:logo"></p>`
  const made = await mailer.sendMail({
    from: `desk@${sender.domain}`,
    to: 'lena@harbor.example',
    subject: 'Grüße',
    text,
    html,
    amp,
    attachments: [
      { filename: 'logo.png', content: logo, cid: 'logo' },
      { filename: 'page.html', content: ANCHOR },
    ],
  })
  const { data } = await copy(await submit(made.message as Buffer))
  t.equal(await verdict(sender, data), PASS)
  const mail = await simpleParser(data, { keepCidLinks: true })
  t.equal(untracked(String(mail.html), (url) => url.replace('&', '&amp;')).trim(), html)
  t.equal(untracked(mail.text ?? ''), text)
  t.strictSame(urls(`${mail.text}${mail.html}`), [`click ${URL_A}`, `click ${URL_A}`, 'open'])
  const files = mail.attachments.map(({ content }) => content.toString('latin1'))
  t.strictSame(files, [amp, logo.toString('latin1'), ANCHOR])
})
