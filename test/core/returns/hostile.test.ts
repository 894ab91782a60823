import { type ReturnReading, readReturn } from '@postrider/core'
import t from 'tap'
import { limitHere, ownCpu } from '../../helpers/turns.ts'
import { message, report } from './reports.ts'

const MB = 1024 * 1024
/** Milliseconds of processor time per MB. */
const MOST_MS = 100
/** A smaller message may take as long as one of this size. */
const LEAST_SIZE = MB / 4

/** Reads it, in bounded processor time: the shortest of three, since the first one may compile code or collect garbage. */
function timed(t: { ok(value: unknown, message: string): unknown }, name: string, raw: Buffer): ReturnReading {
  const most = (MOST_MS * Math.max(raw.length, LEAST_SIZE)) / MB
  let best = Number.POSITIVE_INFINITY
  let reading = readReturn(Buffer.alloc(0))
  for (let tries = 0; tries < 3 && best > most; tries++) {
    const before = ownCpu()
    reading = readReturn(raw)
    best = Math.min(best, ownCpu() - before)
  }
  t.ok(best <= most || best <= limitHere(most), `${name}: ${best.toFixed(1)} ms for ${raw.length} octets`)
  return reading
}

const fill = (piece: string, octets = 10 * MB) => piece.repeat(Math.ceil(octets / piece.length)).slice(0, octets)
const STATUS = ['Final-Recipient: rfc822; lena@harbor.example', 'Action: failed', 'Status: 5.1.1', '']
const DAEMON = 'From: mailer-daemon@harbor.example'

function nested(depth: number, same: boolean): Buffer {
  const lines: string[] = []
  for (let at = 0; at < depth; at++) {
    const boundary = same ? 'b' : `b${at}`
    lines.push(`Content-Type: multipart/mixed; boundary=${boundary}`, '', `--${boundary}`)
  }
  return message(...lines, 'Content-Type: message/delivery-status', '', ...STATUS)
}

/** Messages made to be costly or misleading; with the kind, if one is right. */
const HOSTILE: readonly (readonly [name: string, raw: () => Buffer, kind?: ReturnReading['kind']])[] = [
  ['nothing', () => Buffer.alloc(0), 'unrecognised'],
  ['one octet', () => Buffer.from('\n'), 'unrecognised'],
  ['NUL octets', () => Buffer.alloc(10 * MB), 'unrecognised'],
  ['all octets', () => Buffer.from(Array.from({ length: 65_536 }, (_, at) => (at * 7) % 256)), 'unrecognised'],
  ['no blank line', () => Buffer.from(fill(`${DAEMON}\r\n`)), 'unrecognised'],
  ['one line', () => Buffer.from(fill('a')), 'unrecognised'],
  ['a million empty lines', () => message(DAEMON, '', fill('\r\n', 2 * MB)), 'unrecognised'],
  ['a million bare line feeds', () => Buffer.from(fill('\n', MB)), 'unrecognised'],
  ['a header folded for ever', () => message(DAEMON, 'Subject: a', fill(' a\r\n')), 'unrecognised'],
  ['an 8-bit header', () => Buffer.from(`From: \xff\xfe\r\nSubject: \xe9\xe9\r\n\r\n550 x`, 'latin1'), 'unrecognised'],
  ['10 MB before the report', () => report({ text: [fill('word ', 10 * MB - 4096)], status: STATUS }), 'bounce'],
  ['10 MB of returned message', () => report({ status: STATUS, original: ['', fill('word\r\n', 9 * MB)] }), 'bounce'],
  ['10 MB of delivery status', () => report({ status: [fill(`${STATUS.join('\r\n')}\r\n`)] }), 'bounce'],
  ['empty groups of fields', () => report({ status: [fill('a:b\r\n\r\n'), ...STATUS] })],
  ['10,000 parts', () => report({ text: [fill('x\r\n--limit\r\n\r\n', 130_000)], status: STATUS }), 'unrecognised'],
  [
    '10,000 parts after the report',
    () => report({ status: [...STATUS, fill('--limit\r\n\r\nx\r\n', 130_000)] }),
    'bounce',
  ],
  ['depth 8', () => nested(8, false), 'bounce'],
  ['depth 1,000', () => nested(1000, false), 'unrecognised'],
  ['depth 1,000 with one boundary', () => nested(1000, true)],
  ['many boundary candidates', () => report({ text: [fill('--limitless\r\n')], status: STATUS })],
  ['boundary candidates with spaces', () => report({ text: [fill('--limit  x\r\n')], status: STATUS })],
  ['one candidate with spaces', () => report({ text: [`--limit${fill(' ')}x`], status: STATUS })],
  [
    'candidates at each depth',
    () => {
      const heads = Array.from({ length: 8 }, (_, at) => [
        `Content-Type: multipart/mixed; boundary=${'b'.repeat(at + 1)}`,
        '',
        `--${'b'.repeat(at + 1)}`,
      ])
      return message(...heads.flat(), '', fill(`--${'b'.repeat(9)}\r\n`))
    },
    'unrecognised',
  ],
  [
    'a thousand parameters',
    () => message(`Content-Type: multipart/mixed${fill('; a="', 60_000)}`, '', 'x'),
    'unrecognised',
  ],
  ['an unclosed tag', () => message(DAEMON, 'Content-Type: text/html', '', fill('<a', 9 * MB)), 'unrecognised'],
  ['open tags', () => message(DAEMON, 'Content-Type: text/html', '', fill('<p ', 9 * MB)), 'unrecognised'],
  ['base64 that is not', () => message('Content-Transfer-Encoding: base64', '', fill('=a')), 'unrecognised'],
  [
    'quoted-printable that is not',
    () => message('Content-Transfer-Encoding: quoted-printable', '', fill('=')),
    'unrecognised',
  ],
  ['an unknown charset', () => message('Content-Type: text/plain; charset=no-such', '', fill('\xff')), 'unrecognised'],
  ['UTF-16', () => message('Content-Type: text/plain; charset=utf-16le', '', fill('\xd8\xd8')), 'unrecognised'],
  ['nested JSON', () => message('', '{"a":', fill('[')), 'unrecognised'],
]

for (const [name, raw, kind] of HOSTILE) {
  t.test(`${name}: read or unrecognised, in bounded time`, async (t) => {
    const reading = timed(t, name, raw())
    if (kind) t.equal(reading.kind, kind)
    else t.match(reading.kind, /^(bounce|unrecognised)$/)
  })
}

t.test('text that is costly for patterns is bounded in each place where text may be', async (t) => {
  for (const piece of [
    'mailbox ',
    'user unknown '.slice(0, 5),
    'account',
    'message size ',
    'a@',
    '@',
    'a@b.c ',
    '550 ',
    '550-5.1.1 ',
    '5.1.',
    '<',
    '<a@b.c>\r\n',
    '<a@b.c>: 550 x\r\n\r\n',
    ' a@b.c\r\n\r\n',
    '>>> DATA\r\n',
    'a\r\n\r\n',
    '- ',
    '-----',
    'a: b@c\r\n',
    '{"',
    '=?utf-8?b?',
    'sender address is not ',
  ]) {
    const name = JSON.stringify(piece)
    const lines = fill(piece, 100_000)
    timed(
      t,
      `text ${name}`,
      message(DAEMON, 'Subject: Undeliverable Mail', '', 'The following address(es) failed:', lines),
    )
    timed(t, `transcript ${name}`, message(DAEMON, '', '--- Transcript of session follows', lines))
    timed(
      t,
      `diagnostic ${name}`,
      report({ text: [lines], status: [...STATUS, `Diagnostic-Code: smtp; ${lines.replaceAll('\r\n', '\r\n ')}`] }),
    )
    const groups = Array.from({ length: 30 }, (_, n) => [
      `Final-Recipient: rfc822; r${n}@b.c`,
      `Diagnostic-Code: smtp; ${fill(piece.replaceAll('\r\n', ' '), 2000)}`,
      '',
    ])
    timed(t, `groups ${name}`, report({ text: [lines], status: groups.flat() }))
    timed(
      t,
      `header ${name}`,
      message(
        `From: ${fill(piece.replaceAll('\r\n', ' '), 60_000)}`,
        `Subject: ${fill(piece.replaceAll('\r\n', ' '), 60_000)}`,
        '',
        '550 x',
      ),
    )
  }
})

t.test('parts of reports in any order and any cut never make the reader throw', async (t) => {
  const pieces = [
    'Content-Type: multipart/report; boundary=x\r\n',
    'Content-Type: message/delivery-status\r\n',
    'Content-Type: message/feedback-report\r\n',
    'Content-Type: message/rfc822\r\n',
    'Content-Transfer-Encoding: base64\r\n',
    'Content-Transfer-Encoding: quoted-printable\r\n',
    'Content-Type: text/html; charset=iso-2022-jp\r\n',
    'From: mailer-daemon@b.c\r\n',
    'Final-Recipient: rfc822; a@b.c\r\n',
    'Diagnostic-Code: smtp; 550 5.1.1',
    'Feedback-Type: abuse\r\n',
    'Status: 5',
    '\\x{110000}',
    '--x\r\n',
    '--x--',
    '\r\n',
    '\n',
    '\r',
    '\0',
    ' ',
    '\xff',
    '@',
    '<',
    '=?utf-8?q?=?=',
    '550 ',
    '{"notificationType":"Bounce"}',
    'The following address(es) failed:\r\n',
    '>>> DATA\r\n',
  ]
  let seed = 1
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const kinds = new Set<string>()
  for (let round = 0; round < 3000; round++) {
    const text = Array.from({ length: 1 + random(30) }, () => pieces[random(pieces.length)]).join('')
    kinds.add(readReturn(Buffer.from(text, 'latin1')).kind)
  }
  t.ok(kinds.has('bounce') && kinds.has('complaint') && kinds.has('unrecognised'), [...kinds].join(', '))
})
