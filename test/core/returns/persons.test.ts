import { readReturn } from '@postrider/core'
import t from 'tap'
import { message } from './reports.ts'

/** A bounce as a person quotes it, with an address of hers. */
const QUOTED = [
  'Hello, this came back. What is wrong?',
  '',
  'This is the mail system at host mx.harbor.example.',
  '',
  '<support@harbor.example>: host mx.harbor.example[192.0.2.1] said: 550 5.1.1 <support@harbor.example>: user unknown',
]
const MARKED = QUOTED.map((line) => `> ${line}`)
const EXIM = [
  'A message that you sent could not be delivered to one or more of its recipients.',
  'The following address(es) failed:',
  '',
  '  support@harbor.example',
  '    550 5.1.1 no such user',
]
const GMAIL = [
  'Delivery to the following recipient failed permanently:',
  '',
  '     support@harbor.example',
  '',
  '550 5.1.1 unknown',
]
const REPORT = [
  'Content-Type: message/delivery-status',
  '',
  'Reporting-MTA: dns; mx',
  '',
  'Final-Recipient: rfc822; support@harbor.example',
]

const WRITTEN: readonly [what: string, header: readonly string[], body: readonly string[]][] = [
  ['a bounce that is passed on', ['Subject: Fwd: Undelivered Mail Returned to Sender'], QUOTED],
  ['the same with marks', ['Subject: FW: Undelivered Mail'], MARKED],
  ['the same in German', ['Subject: WG: Unzustellbar: Liegeplatz'], EXIM],
  ['the same in French', ['Subject: TR: Undelivered'], GMAIL],
  ['a reply', ['Subject: Re: Undelivered Mail Returned to Sender', 'In-Reply-To: <1@harbor.example>'], MARKED],
  ['mail of Thunderbird', ['Subject: Undelivered mail', 'User-Agent: Mozilla Thunderbird'], QUOTED],
  ['mail of Apple Mail', ['Subject: Delivery failed?', 'X-Mailer: Apple Mail (2.3774)'], EXIM],
  ['mail of Outlook', ['Subject: Delivery failed', 'X-MS-Has-Attach: yes', 'Thread-Topic: Delivery failed'], GMAIL],
  ['mail of a web page', ['Subject: Your address'], ['Hello,', '', '550 5.1.1 <support@harbor.example>: user unknown']],
  ['mail without a subject', [], MARKED],
  [
    'a report as an attachment',
    ['Subject: Fwd: failure notice', 'Content-Type: multipart/mixed; boundary=b'],
    ['--b', '', 'See below.', '--b', ...REPORT, 'Action: failed', 'Status: 5.1.1', '--b--'],
  ],
]

for (const [what, header, body] of WRITTEN) {
  t.test(`${what} is no bounce of the one who wrote it, but is one with the null sender`, async (t) => {
    const raw = message('From: Mina <mina@quay.example>', ...header, '', ...body, '')
    t.equal(readReturn(raw, 'b-tag@bounces.ship.example', 'mina@quay.example').kind, 'unrecognised')
    t.equal(readReturn(message('Return-Path: <mina@quay.example>', String(raw))).kind, 'unrecognised')
    t.equal(readReturn(raw, 'b-tag@bounces.ship.example', '').kind, 'bounce')
  })
}

t.test('a machine with a sender of its own still reports bounces', async (t) => {
  for (const header of [
    ['From: MAILER-DAEMON@harbor.example', 'Subject: Re: Berth 4', 'X-Mailer: Loop 1'],
    ['From: Mail Delivery Subsystem <bounce@harbor.example>', 'Subject: failure notice'],
    ['From: robot@harbor.example', 'Subject: Undelivered mail'],
    ['From: robot@harbor.example', 'Subject: Undelivered mail', 'Auto-Submitted: auto-generated', 'X-Mailer: Loop 1'],
  ]) {
    const raw = message(...header, '', ...EXIM, '')
    t.match(readReturn(raw, 'b-tag@bounces.ship.example', 'robot@harbor.example'), {
      kind: 'bounce',
      recipients: [{ recipient: 'support@harbor.example', hard: true }],
    })
  }
})
