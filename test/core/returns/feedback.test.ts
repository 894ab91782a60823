import { readReturn } from '@postrider/core'
import t from 'tap'
import { message, report } from './reports.ts'

const ORIGINAL = [
  'Return-Path: <b-tag@bounces.ship.example>',
  'X-PR-Ref: ref',
  'List-Unsubscribe: <https://ship.example/u/xyz>',
  'Message-ID: <1@ship.example>',
  'From: desk@ship.example',
  'To: redacted@harbor.example',
  '',
  'Hello',
]
const feedback = (...fields: readonly string[]) =>
  report({ type: 'message/feedback-report', status: fields, original: ORIGINAL })

t.test('each type of a feedback report has its kind', async (t) => {
  for (const [type, expected] of [
    ['abuse', 'complaint abuse'],
    ['Fraud', 'complaint fraud'],
    ['virus', 'complaint virus'],
    ['other', 'complaint other'],
    ['miscategorized', 'complaint other'],
    ['not-spam', 'not-spam'],
    ['opt-out', 'opt-out'],
    ['opt-out-list', 'opt-out'],
    ['auth-failure', 'auth-failure'],
    ['constructor', 'complaint other'],
  ] as const) {
    const reading = readReturn(feedback(`Feedback-Type: ${type}`, 'User-Agent: Loop/1', 'Version: 1'))
    t.equal(`${reading.kind} ${reading.kind === 'complaint' ? reading.feedbackType : ''}`.trim(), expected, type)
  }
})

t.test('a complaint has the recipients as reported and the places of our marks', async (t) => {
  const reading = readReturn(
    feedback(
      'Feedback-Type: abuse',
      'Version: 1',
      'Original-Mail-From: <b-other@bounces.ship.example>',
      'Original-Rcpt-To: <lena@harbor.example>',
      'Original-Rcpt-To: olaf@harbor.example',
    ),
  )
  t.strictSame(reading, {
    kind: 'complaint',
    feedbackType: 'abuse',
    recipients: ['lena@harbor.example', 'olaf@harbor.example'],
    marks: {
      returnPaths: ['<b-tag@bounces.ship.example>'],
      references: ['ref'],
      listUnsubscribe: ['<https://ship.example/u/xyz>'],
      originalMailFrom: ['<b-other@bounces.ship.example>'],
      messageIds: ['<1@ship.example>'],
    },
  })
})

t.test('a report with only the header of the message, and a redacted recipient, has the marks', async (t) => {
  // Synthetic, after descriptions of the reports that JMRP has sent since 2026.
  const raw = message(
    'From: staff@hotmail.com',
    'Subject: complaint about message from 192.0.2.1',
    'Content-Type: multipart/report; report-type=feedback-report; boundary=x',
    '',
    '--x',
    'Content-Type: message/feedback-report',
    '',
    'Feedback-Type: abuse',
    'Original-Rcpt-To: redacted@',
    '--x',
    'Content-Type: text/rfc822-headers',
    '',
    ...ORIGINAL.slice(0, 6),
    '--x--',
  )
  const reading = readReturn(raw)
  t.equal(reading.kind, 'complaint')
  t.match(reading, { recipients: [], marks: { references: ['ref'] } })
})

t.test('a report of JMRP before 2026, the whole message as an attachment, is a complaint', async (t) => {
  const raw = message(
    'From: <staff@hotmail.com>',
    'Subject: complaint about message from 192.0.2.1',
    'Content-Type: multipart/mixed; boundary=x',
    '',
    '--x',
    'Content-Type: message/rfc822',
    '',
    'X-HmXmrOriginalRecipient: lena@harbor.example',
    ...ORIGINAL,
    '--x--',
  )
  t.match(readReturn(raw), {
    kind: 'complaint',
    feedbackType: 'abuse',
    recipients: ['lena@harbor.example'],
    marks: { references: ['ref'], returnPaths: ['<b-tag@bounces.ship.example>'] },
  })
})

t.test('a report whose parts lost their types is read from its text', async (t) => {
  const raw = message(
    'Content-Type: multipart/report; report-type=feedback-report; boundary=x',
    '',
    '--x',
    '',
    'Feedback-Type: abuse',
    'Version: 1',
    'X-PR-Ref: ref',
    '--x--',
  )
  t.match(readReturn(raw), { kind: 'complaint', marks: { references: ['ref'] } })
  const letter = message('Subject: a question', '', 'What does this mean?', 'Feedback-Type: abuse')
  t.equal(readReturn(letter).kind, 'unrecognised', 'one line is not a report')
})

t.test('a message of Apple Mail to the address for unsubscribing is an opt-out', async (t) => {
  const of = (value: string) => message('From: lena@harbor.example', `X-Apple-Unsubscribe: ${value}`, '', 'Unsubscribe')
  t.equal(readReturn(of('true')).kind, 'opt-out')
  t.equal(readReturn(of('false')).kind, 'unrecognised')
})

t.test('a report without a type is not a complaint', async (t) => {
  t.equal(readReturn(feedback('User-Agent: Loop/1', 'Version: 1')).kind, 'unrecognised')
})

t.test('automatic replies are known by their fields or their subject', async (t) => {
  for (const field of [
    'Auto-Submitted: auto-replied',
    'Auto-Submitted: auto-generated; owner-email="lena@harbor.example"',
    'Auto-Submitted: Auto-Replied (vacation)',
    'X-Autoreply: yes',
    'X-Autorespond: Away',
    'Precedence: auto_reply',
    'Subject: Automatic reply: your order',
    'Subject: Auto-Reply: your order',
    'Subject: Out of Office: your order',
    'Subject: Abwesenheitsnotiz: Bestellung',
    'Subject: =?utf-8?Q?R=C3=A9ponse_automatique?= : commande',
    'X-Auto-Response-Suppress: All\r\nSubject: RE: your order',
    'X-Apple-Action: VACATION',
  ]) {
    const raw = message(
      'From: Lena <lena@harbor.example>',
      field,
      '',
      'I am away. Call 555 1234.',
      '550 steps from here.',
    )
    t.equal(readReturn(raw).kind, 'auto-reply', field)
  }
})

t.test('a letter, and a message that wants no automatic reply, is not one', async (t) => {
  for (const field of [
    'Auto-Submitted: no',
    'X-Auto-Response-Suppress: All\r\nSubject: your order',
    'Subject: RE: your order',
    'Precedence: bulk',
  ]) {
    const raw = message(
      'From: Lena <lena@harbor.example>',
      field,
      '',
      'Call 555 1234.',
      '550 steps from here: 450 boxes',
    )
    t.equal(readReturn(raw).kind, 'unrecognised', field)
  }
})

t.test('a bounce report that is marked as an automatic reply is a bounce', async (t) => {
  const raw = message(
    'From: Mail Delivery System <Mailer-Daemon@harbor.example>',
    'Auto-Submitted: auto-replied',
    'Subject: Mail delivery failed: returning message to sender',
    '',
    'The following address(es) failed:',
    '',
    '  lena@harbor.example',
    '    SMTP error from remote mail server after RCPT TO:<lena@harbor.example>:',
    '    host mx.harbor.example [192.0.2.1]: 550 no such user here',
  )
  t.match(readReturn(raw), { kind: 'bounce', recipients: [{ recipient: 'lena@harbor.example', hard: true }] })
})
