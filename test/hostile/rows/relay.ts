import { base64, CLOSED, plainToken } from '../../helpers/smtp-client.ts'
import { rowsOf } from '../row.ts'
import type { Stage } from '../stage.ts'
import { fill, kB, MB, many } from '../text.ts'

/** What is written over one session, and the last reply to it. */
async function said(stage: Stage, text: string, options: { readonly logIn?: boolean } = {}): Promise<string> {
  const client = await stage.session(options)
  stage.octets += text.length
  try {
    await client.send(Buffer.from(text))
    let last = 'no reply'
    for (let quiet = false; !quiet; ) {
      const reply = await Promise.race([
        client.reply(),
        new Promise<undefined>((done) => setTimeout(() => done(undefined), 1000)),
      ])
      if (reply === CLOSED) return `${last}, closed`
      if (reply === undefined) quiet = true
      else last = reply.split('\n').at(-1) ?? ''
    }
    return last
  } finally {
    client.destroy()
  }
}

const head = (fields: () => string) => (stage: Stage) =>
  stage.relay(
    `From: Ship Desk <desk@${stage.sender.domain}>\r\n${fields()}Subject: Berth 4\r\n\r\nYour berth is ready.\r\n`,
  )
/** A field of so many octets, folded as header fields are: at most so many to a line. */
const field = (name: string, unit: string, length: number): string =>
  `${name}: ${many(Math.ceil(length / 70), () => fill(unit, 70), '\r\n ')}\r\n`
const from = (value: () => string) => (stage: Stage) =>
  stage.relay(`From: ${value()} <desk@${stage.sender.domain}>\r\nTo: a@b.example\r\nSubject: Berth 4\r\n\r\nx\r\n`)
const body = (make: () => string) => (stage: Stage) =>
  stage.relay(`From: desk@${stage.sender.domain}\r\nTo: a@b.example\r\nSubject: Berth 4\r\n${make()}`)
const api = (value: () => unknown) => (stage: Stage) => {
  const json = JSON.stringify(value())
    .replace(/(.{1,500})/g, '$1\r\n ')
    .trimEnd()
  return body(() => `X-SMTPAPI: ${json}\r\nContent-Type: text/html\r\n\r\n<p>-a- -k-</p>\r\n`)(stage)
}
/** With a template, so that the message is taken apart. */
const apart =
  (make: () => string, fields: () => string = () => '') =>
  async (stage: Stage) => {
    const { id } = await stage.service.core.templates.create({
      accountId: stage.sender.accountId,
      name: `berth ${crypto.randomUUID()}`,
      content: '<p>[%a%]</p>',
    })
    return body(() => `X-TEMPLATEID: ${id}\r\n${fields()}${make()}`)(stage)
  }
const texts = (count: number, name: (at: number) => string, value: (at: number) => unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [name(at), value(at)]))
const mixed = (parts: string): string => `Content-Type: multipart/mixed; boundary=x\r\n\r\n${parts}--x--\r\n`

/** The relay: commands, AUTH, message heads, X-SMTPAPI, and messages that are taken apart. */
export const RELAY = rowsOf(
  'relay',
  {
    'SMTP: a command of 28 MB': (stage) => said(stage, fill('NOOP ', 28 * MB)),
    'SMTP: a million NOOPs at once': (stage) => said(stage, fill('NOOP\r\n', 6 * MB)),
    'SMTP: a million line ends': (stage) => said(stage, fill('\r\n', 2 * MB)),
    'SMTP: a million bare line feeds': (stage) => said(stage, fill('\n', MB)),
    'SMTP: unknown commands of 500 octets': (stage) => said(stage, fill(`${fill('X', 498)}\r\n`, MB)),
    'SMTP: EHLO of 500 octets, 2,000 times': (stage) => said(stage, fill(`EHLO ${fill('a.', 493)}\r\n`, MB)),
    'SMTP: AUTH PLAIN of 12 kB': (stage) =>
      said(stage, `EHLO a\r\nAUTH PLAIN ${fill('AAAA', 12_000)}\r\n`, { logIn: false }),
    'SMTP: AUTH LOGIN answered with 28 MB': (stage) =>
      said(stage, `EHLO a\r\nAUTH LOGIN\r\n${fill('QUFB', 28 * MB)}\r\n`, { logIn: false }),
    'SMTP: 10,000 wrong logins': (stage) =>
      said(stage, `EHLO a\r\n${fill(`AUTH PLAIN ${plainToken('apikey', 'x')}\r\n`, 300 * kB)}`, { logIn: false }),
    'SMTP: AUTH with a name of 8 kB': (stage) =>
      said(stage, `EHLO a\r\nAUTH LOGIN ${base64(fill('a', 8000))}\r\n`, { logIn: false }),
    'SMTP: MAIL with 490 octets of parameters': (stage) =>
      said(stage, fill(`MAIL FROM:<a@b.example> ${fill('A=B ', 470)}\r\n`, 500 * kB)),
    'SMTP: RCPT of quotes and comments': (stage) =>
      said(
        stage,
        `MAIL FROM:<desk@${stage.sender.domain}>\r\n${fill(`RCPT TO:<"${fill('\\"', 460)}"@a.example>\r\n`, 500 * kB)}`,
      ),
    'SMTP: RCPT of routes': (stage) =>
      said(
        stage,
        `MAIL FROM:<desk@${stage.sender.domain}>\r\n${fill(`RCPT TO:<${fill('@a,', 460)}:a@b.example>\r\n`, 500 * kB)}`,
      ),
    'SMTP: 50,000 recipients': (stage) =>
      said(
        stage,
        `MAIL FROM:<desk@${stage.sender.domain}>\r\n${many(50_000, (at) => `RCPT TO:<a${at}@b.example>\r\n`)}`,
      ),
    'SMTP: messages of nothing, again and again': (stage) =>
      said(stage, fill(`MAIL FROM:<desk@${stage.sender.domain}>\r\nRCPT TO:<a@b.example>\r\nRSET\r\n`, 300 * kB)),
    'head: To of 400 kB of addresses': head(() => `To: ${many(20_000, () => 'a@b.example', ',\r\n ')}\r\n`),
    'head: To of 400 kB of (': head(() => field('To', '(', 400 * kB)),
    'head: To of 400 kB of <': head(() => field('To', '<', 400 * kB)),
    'head: To of 400 kB of groups': head(() => field('To', 'a:b@c;,', 400 * kB)),
    'head: To of 400 kB of quotes': head(() => field('To', '"\\"', 400 * kB)),
    'head: five lists of local parts': head(() =>
      many(
        5,
        (at) => `${['Sender', 'Reply-To', 'To', 'Cc', 'X-To'][at]}: ${many(90, () => fill('a,', 80), '\r\n ')}\r\n`,
      ),
    ),
    'head: 9,900 fields above a From without domain': (stage) =>
      stage.relay(`${fill(`x-${'a'.repeat(38)}: b\r\n`, 440 * kB)}From: root\r\nTo: root\r\n\r\nx\r\n`),
    'head: From of 500 (': from(() => fill('(', 470)),
    'head: From of 500 ( and )': from(() => `${fill('(', 235)}${fill(')', 235)}`),
    'head: From of 500 quotes': from(() => fill('"', 470)),
    'head: From of 500 of a.': from(() => fill('a.', 470)),
    'head: From of 500 commas': from(() => fill('a,', 470)),
    'head: From of 500 of <': from(() => fill('<', 470)),
    'head: From of 500 of :;': from(() => fill('a:;', 470)),
    'head: From of 500 of @a,': from(() => fill('<@a,', 470)),
    'head: From of 100 encoded words': from(() => many(100, () => '=?utf-8?Q?a?=', '\r\n ')),
    'head: From of 400 kB of (': from(() => many(6000, () => fill('(', 70), '\r\n ')),
    'head: From of 400 kB of names': from(() => many(6000, () => fill('a ', 70), '\r\n ')),
    'head: From of 400 kB of blanks': from(() => many(6000, () => fill(' ', 70), '\r\n ')),
    'head: 40 From fields': (stage) =>
      stage.relay(`${many(40, () => `From: desk@${stage.sender.domain}\r\n`)}\r\nx\r\n`),
    'head: a subject of 400 kB of encoded words': body(
      () => `Subject: ${many(8000, () => fill('=?utf-8?Q?a?= ', 56), '\r\n ')}\r\n\r\nx\r\n`,
    ),
    'head: a subject of 400 kB of =?': body(() => `${field('X-TAGS', '=?', 400 * kB)}\r\nx\r\n`),
    'head: subjects of 400 kB, encoded in many charsets': (stage) =>
      stage.relay(
        `From: desk@${stage.sender.domain}\r\nSubject: ${many(4000, (at) => `=?${['iso-2022-jp', 'gb18030', 'koi8-r', 'utf-7'][at % 4]}?B?${fill('GyRC', 60)}?=`, '\r\n ')}\r\n\r\nx\r\n`,
      ),
    'head: a first subject of 480 kB of encoded words in two charsets': (stage) =>
      stage.relay(
        `From: desk@${stage.sender.domain}\r\nSubject: ${many(9000, () => '=?iso-2022-jp?Q?a?= =?us-ascii?Q?b?=', '\r\n ')}\r\n\r\nx\r\n`,
      ),
    'head: a first subject of 400 kB of encoded words': (stage) =>
      stage.relay(
        `From: desk@${stage.sender.domain}\r\nSubject: ${many(8000, () => '=?utf-8?Q?=E2=82=AC?=', '\r\n ')}\r\n\r\nx\r\n`,
      ),
    'head: a first subject of 400 kB of =?utf-8?Q?': (stage) =>
      stage.relay(`From: desk@${stage.sender.domain}\r\n${field('Subject', '=?utf-8?Q?', 400 * kB)}\r\nx\r\n`),
    'head: 9,900 fields of 46 octets': body(() => `${fill(`x-${'a'.repeat(38)}: b\r\n`, 440 * kB)}\r\nx\r\n`),
    'head: 100,000 fields': body(() => `${fill('A:\r\n', 400 * kB)}\r\nx\r\n`),
    'head: 250,000 lines that are no fields': body(() => `${fill('a\r\n', 500 * kB)}\r\nx\r\n`),
    'head: one field folded 160,000 times': body(() => `A: b${fill('\r\n ', 480 * kB)}\r\n\r\nx\r\n`),
    'head: 500 kB of blanks before a colon': body(() => `A${fill(' ', 500 * kB)}x\r\n\r\nx\r\n`),
    'head: 28 MB without a body': body(() => fill('A: b\r\n', 28 * MB)),
    'head: References of 500 kB': body(() => `${field('References', '<a@b> ', 480 * kB)}\r\nx\r\n`),
    'head: X-TAGS of 500 kB of commas': body(() => `${field('X-TAGS', ',', 480 * kB)}\r\nx\r\n`),
    'head: X-TAGS of 500 kB of ;': body(() => `${field('X-TAGS', ' ;', 480 * kB)}\r\nx\r\n`),
    'head: X-TAGS of 500 kB of blanks': body(() => `X-TAGS: a${fill(' \t', 480 * kB)}x\r\n\r\nx\r\n`),
    'head: X-SETTINGS of 480 kB of copies': body(
      () => `X-SETTINGS: {"bcc":"${many(6000, () => fill('a@b.c,', 70), '\r\n ')}"}\r\n\r\nx\r\n`,
    ),
    'head: X-ATTRIBUTES of 60,000 names': body(
      () => `X-ATTRIBUTES: {${many(50_000, (at) => `"${at}":0`, ',\r\n ')}}\r\n\r\nx\r\n`,
    ),
    'head: X-ATTRIBUTES of 480 kB of [': body(() => `${field('X-ATTRIBUTES', '[', 480 * kB)}\r\nx\r\n`),
    'head: X-TEMPLATEID of 480 kB of digits': body(() => `${field('X-TEMPLATEID', '1', 480 * kB)}\r\nx\r\n`),
    'head: an idempotency key of 480 kB': body(() => `${field('Idempotency-Key', 'a', 480 * kB)}\r\nx\r\n`),
    'head: 200 Received fields of 2 kB': body(
      () => `${many(200, () => field('Received', 'from a by b; ', 2000))}\r\nx\r\n`,
    ),
    'head: a Content-Type of 10,000 name*N': body(
      () => `Content-Type: text/plain;\r\n ${many(10_000, (at) => `name*${at}=a`, ';\r\n ')}\r\n\r\nx\r\n`,
    ),
    'body: 28 MB of line ends': body(() => `\r\n${fill('\r\n', 28 * MB)}`),
    'body: 28 MB of dots': body(() => `\r\n${fill('.\r\n', 20 * MB)}`),
    'body: 28 MB of bare CR': body(() => `\r\n${fill('\r', 28 * MB)}\r\n`),
    'body: 28 MB of lines of two dashes': body(() => `\r\n${fill('--\r\ncontent-\r\n', 28 * MB)}`),
    'body: an encoded message of 20 MB': body(
      () =>
        `Content-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(`a:b\r\n\r\n${fill('--b\r\ncontent-type:a\r\n\r\n', 20 * MB)}`).toString('base64')}\r\n`,
    ),
    'body: 28 MB in one line': body(() => `\r\n${fill('a', 28 * MB)}\r\n`),
    'body: 28 MB of lines of 76': body(() => `\r\n${fill(`${fill('a', 74)}\r\n`, 28 * MB)}`),
    'body: 28 MB of 8 bit': body(() => `\r\n${fill('é', 14 * MB)}\r\n`),
    'body: 31 MB': body(() => `\r\n${fill(`${fill('a', 74)}\r\n`, 31 * MB)}`),
    'X-SMTPAPI: sections of 200 kB': api(() => ({
      to: ['a@b.example'],
      sub: { '-k-': ['-s0-'] },
      section: texts(
        20,
        (at) => `-s${at}-`,
        () => fill('abc', 10 * kB),
      ),
    })),
    'X-SMTPAPI: section names of 9,999, 40 of them': api(() => ({
      to: ['a@b.example'],
      sub: { '-k-': ['x'] },
      section: texts(
        40,
        (at) => `${at}${fill('a', 9990)}`,
        () => 'b',
      ),
    })),
    'X-SMTPAPI: section names of 9,999 that end differently': api(() => ({
      to: ['a@b.example'],
      sub: { '-k-': ['x'] },
      section: texts(
        40,
        (at) => `${fill('a', 9990)}${at}`,
        () => 'b',
      ),
    })),
    'X-SMTPAPI: 10,000 recipients with a tag each': api(() => ({
      to: Array.from({ length: 10_000 }, (_, at) => `a${at}@b.example`),
      sub: { '-k-': Array(10_000).fill('v') },
    })),
    'X-SMTPAPI: 9,000 tags for 3 recipients': api(() => ({
      to: ['a@b.example', 'b@b.example', 'c@b.example'],
      sub: texts(
        9000,
        (at) => `-k${at}-`,
        () => ['a', 'b', 'c'],
      ),
    })),
    'X-SMTPAPI: 100,000 wrong values': api(() => ({ to: Array(100_000).fill(1) })),
    'X-SMTPAPI: names of 400 kB of encoded words': api(() => ({
      to: [`${fill('=?utf-8?Q?a?= ', 400 * kB)}<a@b.example>`],
    })),
    'X-SMTPAPI: 100 names of 4 kB of encoded words': api(() => ({
      to: Array(100).fill(`${fill('=?utf-8?Q?a?= ', 4 * kB)}<a@b.example>`),
    })),
    'X-SMTPAPI: 480 kB of [': body(() => `${field('X-SMTPAPI', '[', 480 * kB)}\r\nx\r\n`),
    'X-SMTPAPI: 480 kB of encoded words': body(
      () => `X-SMTPAPI: ${many(8000, () => '=?utf-8?Q?=7B?= =?utf-8?Q?=7D?=', '\r\n ')}\r\n\r\nx\r\n`,
    ),
    'X-SMTPAPI: a hundred X-SMTPAPI fields': body(() => `${many(100, () => field('X-SMTPAPI', '{}', 4000))}\r\nx\r\n`),
    'apart: 400 kB of To': apart(
      () => '\r\nx\r\n',
      () => `To: ${many(20_000, () => 'a@b.example', ',\r\n ')}\r\n`,
    ),
    'apart: 120 kB of To': apart(
      () => '\r\nx\r\n',
      () => `To: ${many(6000, () => 'a@b.example', ',\r\n ')}\r\n`,
    ),
    'apart: 120 kB of To, groups in groups': apart(
      () => '\r\nx\r\n',
      () => field('To', 'a:b:', 120 * kB),
    ),
    'apart: 120 kB of Reply-To of comments': apart(
      () => '\r\nx\r\n',
      () => field('Reply-To', '(a', 120 * kB),
    ),
    'apart: 10,000 parts': apart(() => mixed(fill('--x\r\n\r\na\r\n', 100_000))),
    'apart: 900 parts': apart(() => mixed(fill('--x\r\n\r\na\r\n', 9900))),
    'apart: parts in parts, 1,000 deep': apart(
      () => `${many(1000, (at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`)}\r\nx\r\n`,
    ),
    'apart: parts in parts, 90 deep': apart(
      () => `${many(90, (at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`)}\r\nx\r\n`,
    ),
    'apart: 20 MB of base64': apart(() =>
      mixed(
        `--x\r\nContent-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${fill(`${fill('QUFB', 76)}\r\n`, 20 * MB)}\r\n`,
      ),
    ),
    'apart: 9 MB of quoted-printable': apart(
      () =>
        `Content-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${fill('=3D=\r\n', 9 * MB)}\r\n`,
    ),
    'apart: 9 MB of format=flowed': apart(
      () => `Content-Type: text/plain; format=flowed; delsp=yes\r\n\r\n${fill('> a \r\n', 9 * MB)}\r\n`,
    ),
    'apart: 9 MB in ISO-2022-JP': apart(
      () => `Content-Type: text/plain; charset=iso-2022-jp\r\n\r\n${fill('\x1b$B$"\x1b(B\r\n', 9 * MB)}\r\n`,
    ),
    'apart: 9 MB in UTF-7': apart(
      () => `Content-Type: text/plain; charset=utf-7\r\n\r\n${fill('+AGEAYg-\r\n', 9 * MB)}\r\n`,
    ),
    'apart: 9 MB of uuencode': apart(() => `\r\n${fill('begin 644 a\r\n#86)C\r\nend\r\n', 9 * MB)}`),
    'apart: a Content-Type of 1,000 name*N': apart(() =>
      mixed(`--x\r\nContent-Type: text/x; ${many(1000, (at) => `name*${at}*=%41`, ';\r\n ')}\r\n\r\na\r\n`),
    ),
    'apart: file names of 16 kB, 100 of them': apart(() =>
      mixed(
        many(
          100,
          () =>
            `--x\r\nContent-Disposition: attachment; filename="${many(200, () => fill('a\\', 76), '\r\n ')}"\r\n\r\na\r\n`,
        ),
      ),
    ),
    'apart: an inline image named 100,000 times': apart(
      () =>
        `Content-Type: multipart/related; boundary=x\r\n\r\n--x\r\nContent-Type: text/html\r\n\r\n${fill(
          '<img ' + 'src="cid:a@b">',
          2 * MB,
        )}\r\n--x\r\nContent-Type: image/png\r\nContent-ID: <a@b>\r\n\r\na\r\n--x--\r\n`,
    ),
  },
  [
    'head: To of 400 kB of (',
    'head: From of 500 (',
    'head: a first subject of 480 kB of encoded words in two charsets',
    'apart: 120 kB of To',
    'X-SMTPAPI: sections of 200 kB',
  ],
)
