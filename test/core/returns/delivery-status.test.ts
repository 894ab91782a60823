import t from 'tap'
import { message, readBounce, report, verdicts } from './reports.ts'

t.test('a report of one recipient has its address, action, status, reply and verdict', async (t) => {
  const reading = readBounce(
    report({
      status: [
        'Reporting-MTA: dns; mx.harbor.example',
        '',
        'Final-Recipient: rfc822; lena@harbor.example',
        'Action: failed',
        'Status: 5.1.1',
        'Diagnostic-Code: smtp; 550 5.1.1 <lena@harbor.example>:',
        '  Recipient address rejected: User unknown',
        '  in virtual mailbox table',
        '',
      ],
    }),
  )
  t.equal(reading.format, 'delivery-status')
  t.strictSame(reading.recipients, [
    {
      recipient: 'lena@harbor.example',
      action: 'failed',
      status: '5.1.1',
      code: 550,
      text: '550 5.1.1 <lena@harbor.example>: Recipient address rejected: User unknown in virtual mailbox table',
      class: 'bad-mailbox',
      hard: true,
    },
  ])
})

t.test('a first recipient who is delayed does not hide a second one who failed', async (t) => {
  const raw = report({
    status: [
      'Reporting-MTA: dns; mx.harbor.example',
      '',
      'Final-Recipient: rfc822; olaf@harbor.example',
      'Action: delayed',
      'Status: 4.4.1',
      '',
      'Final-Recipient: rfc822; lena@harbor.example',
      'Action: failed',
      'Status: 5.1.1',
      '',
    ],
  })
  t.strictSame(verdicts(raw), [
    'olaf@harbor.example delayed soft network',
    'lena@harbor.example failed hard bad-mailbox',
  ])
})

t.test('recipients with all kinds of outcomes keep their own', async (t) => {
  const of = (name: string, action: string, status: string, reply?: string) => [
    `Final-Recipient: rfc822; ${name}@harbor.example`,
    `Action: ${action}`,
    `Status: ${status}`,
    ...(reply ? [`Diagnostic-Code: smtp; ${reply}`] : []),
    '',
  ]
  const raw = report({
    status: [
      ...of('a', 'delivered', '2.1.5'),
      ...of('b', 'failed', '5.2.2', '552 5.2.2 mailbox full'),
      ...of('c', 'relayed', '2.0.0'),
      ...of('d', 'expanded', '2.1.5'),
      ...of('e', 'FAILED (given up)', '5.1.2', '550 5.1.2 Host unknown'),
      ...of('f', 'failed', '5.7.1', '550 5.7.1 listed at a block list: spam'),
      ...of('g', 'Delayed (still trying)', '4.4.1'),
    ],
  })
  t.strictSame(verdicts(raw), [
    'a@harbor.example delivered soft other',
    'b@harbor.example failed soft mailbox-full',
    'c@harbor.example relayed soft other',
    'd@harbor.example expanded soft other',
    'e@harbor.example failed hard bad-domain',
    'f@harbor.example failed soft spam',
    'g@harbor.example delayed soft network',
  ])
})

t.test('a report that names another recipient says so: whose it is, is not decided here', async (t) => {
  const raw = report({
    status: ['Final-Recipient: rfc822; stranger@elsewhere.example', 'Action: failed', 'Status: 5.1.1', ''],
  })
  t.strictSame(verdicts(raw), ['stranger@elsewhere.example failed hard bad-mailbox'])
})

t.test('addresses outside ASCII are read in each of the forms of RFC 6533', async (t) => {
  for (const [type, written] of [
    ['message/global-delivery-status', 'utf-8; λένα@λιμάνι.example'],
    ['message/global-delivery-status', 'utf-8; \\x{3BB}\\x{3AD}\\x{3BD}\\x{3B1}@λιμάνι.example'],
    [
      'message/delivery-status',
      'utf-8; \\x{3bb}\\x{3ad}\\x{3bd}\\x{3b1}@\\x{3bb}\\x{3b9}\\x{3bc}\\x{3ac}\\x{3bd}\\x{3b9}.example',
    ],
  ] as const) {
    const raw = report({ type, status: [`Final-Recipient: ${written}`, 'Action: failed', 'Status: 5.1.1', ''] })
    t.strictSame(verdicts(raw), ['λένα@λιμάνι.example failed hard bad-mailbox'], written)
  }
  const beyond = report({
    status: ['Final-Recipient: utf-8; a\\x{FFFFFF}@b.example', 'Action: failed', 'Status: 5.1.1'],
  })
  t.match(verdicts(beyond)[0], /b\.example failed hard/, 'a code point that does not exist')
})

t.test('a status part in base64 is decoded', async (t) => {
  const fields = 'Final-Recipient: rfc822; lena@harbor.example\r\nAction: failed\r\nStatus: 5.1.1\r\n'
  const raw = message(
    'Content-Type: multipart/report; boundary=x',
    '',
    '--x',
    'Content-Type: message/global-delivery-status',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from(fields).toString('base64'),
    '--x--',
  )
  t.strictSame(verdicts(raw), ['lena@harbor.example failed hard bad-mailbox'])
})

t.test('the code within the reply is used if it says more than the field', async (t) => {
  for (const [status, reply, expected] of [
    ['5.0.0', '550 5.1.1 no', '5.1.1'],
    ['5.1.1', '550 5.7.1 blocked', '5.7.1'],
    ['5.1.1', '550 5.0.0 no', '5.1.1'],
    ['5.1.1', '550 no', '5.1.1'],
    ['5.4.7', 'no reply from 5.1.1.2', '5.4.7'],
    ['5.1.1', 'said by Mailer 5.7.1', '5.1.1'],
    ['5.1.1', 'no mailbox for this (#5.7.1)', '5.7.1'],
  ] as const) {
    const raw = report({
      status: [
        'Final-Recipient: rfc822; a@b.example',
        'Action: failed',
        `Status: ${status}`,
        `Diagnostic-Code: smtp; ${reply}`,
      ],
    })
    t.equal(readBounce(raw).recipients[0]?.status, expected, `${status}, ${reply}`)
  }
})

t.test('whatever lacks fields is completed from the text for people', async (t) => {
  const raw = report({
    text: [
      '    An error has occurred while attempting to deliver a message for',
      '    the following list of recipients:',
      '',
      'lena@harbor.example: 550 5.1.1 User unknown',
      'olaf@harbor.example: 552 5.2.2 Mailbox full',
    ],
    status: [
      'Final-Recipient: rfc822; olaf@harbor.example',
      'Action: failed',
      'Status: 5.0.0',
      '',
      'Final-Recipient: rfc822; lena@harbor.example',
      'Action: failed',
      'Status: 5.0.0',
      '',
    ],
  })
  t.strictSame(verdicts(raw), [
    'olaf@harbor.example failed soft mailbox-full',
    'lena@harbor.example failed hard bad-mailbox',
  ])
})

t.test(
  '"unknown user" after the message is the word of a filter, also if only the transcript shows when',
  async (t) => {
    const status = (name: string) => [
      `Final-Recipient: rfc822; ${name}@harbor.example`,
      'Action: failed',
      'Status: 5.0.0',
      'Diagnostic-Code: smtp; 550 User unknown',
      '',
    ]
    for (const [text, expected] of [
      [
        ['<lena@harbor.example>: host mx said: 550 User unknown', '    (in reply to end of DATA command)'],
        'soft filtered',
      ],
      [['<lena@harbor.example>: host mx said: 550 User unknown (in reply to RCPT TO command)'], 'hard bad-mailbox'],
      [['>>> DATA', '<<< 550 <lena@harbor.example> User unknown'], 'soft filtered'],
      [
        ['>>> DATA', '<<< 550 <lena@harbor.example> User unknown', '<<< 503 5.0.0 Need RCPT (recipient)'],
        'hard bad-mailbox',
      ],
      [['SMTP error from remote mail server after MAIL FROM:<b-tag@bounces.ship.example>'], 'soft policy'],
    ] as const) {
      t.strictSame(
        verdicts(report({ text, status: status('lena') })),
        [`lena@harbor.example failed ${expected}`],
        text[0],
      )
    }
    const several = report({
      text: [
        '>>> RCPT TO:<olaf@harbor.example>',
        '<<< 550 <olaf@harbor.example> User unknown',
        '>>> DATA',
        '<<< 550 <lena@harbor.example> User unknown',
        '',
        '<inga@harbor.example>: said: 550 User unknown (in reply to DATA command)',
      ],
      status: [...status('lena'), ...status('olaf'), ...status('inga')],
    })
    t.strictSame(verdicts(several), [
      'lena@harbor.example failed soft filtered',
      'olaf@harbor.example failed hard bad-mailbox',
      'inga@harbor.example failed soft filtered',
    ])
  },
)

t.test('a reply that quotes our return path is about the sender', async (t) => {
  const raw = report({
    status: [
      'Final-Recipient: rfc822; lena@harbor.example',
      'Action: failed',
      'Status: 5.0.0',
      'Diagnostic-Code: smtp; 550 <b-tag@bounces.ship.example>: User unknown',
    ],
  })
  t.strictSame(verdicts(raw), ['lena@harbor.example failed soft policy'])
})

t.test('a temporary failure is soft, whatever it says', async (t) => {
  for (const [status, reply] of [
    ['4.1.1', '450 4.1.1 User unknown'],
    ['5.0.0', '450 User unknown'],
    ['4.0.0', 'User unknown'],
  ] as const) {
    const raw = report({
      status: [
        'Final-Recipient: rfc822; a@b.example',
        'Action: failed',
        `Status: ${status}`,
        `Diagnostic-Code: smtp; ${reply}`,
      ],
    })
    t.equal(readBounce(raw).recipients[0]?.hard, false, `${status} ${reply}`)
  }
})

t.test('a temporary failure stays one if the text for people calls the user unknown', async (t) => {
  for (const [status, reply] of [
    ['5.0.0', '451 system failure'],
    ['4.3.0', 'system failure'],
  ] as const) {
    const text = ['This is the mail system at host mx.', '', '<a@b.example>: 550 user unknown']
    const fields = ['Final-Recipient: rfc822; a@b.example', 'Action: failed', `Status: ${status}`]
    const raw = report({ text, status: [...fields, `Diagnostic-Code: smtp; ${reply}`] })
    t.equal(readBounce(raw).recipients[0]?.hard, false, `${status} ${reply}`)
  }
})

t.test('fields divided by empty lines, in a part of another report type, or in the text are read', async (t) => {
  const fields = ['Final-Recipient: rfc822; lena@harbor.example', '', 'Action: failed', 'Status: 5.1.1', '']
  t.strictSame(verdicts(report({ status: fields })), ['lena@harbor.example failed hard bad-mailbox'])
  t.strictSame(verdicts(report({ type: 'text/plain', status: fields })), [
    'lena@harbor.example failed hard bad-mailbox',
  ])
  const bare = Buffer.from(report({ status: fields }).toString().replaceAll('\r\n', '\n'))
  t.strictSame(verdicts(bare), ['lena@harbor.example failed hard bad-mailbox'], 'bare line feeds')
})

t.test('a recipient without an address is one without a name', async (t) => {
  const status = ['Final-Recipient: rfc822; @harbor.example', 'Action: failed', 'Status: 5.1.1']
  t.strictSame(verdicts(report({ status })), [' failed hard bad-mailbox'])
})

t.test('a report within the returned message is not the report', async (t) => {
  const raw = report({
    status: ['Final-Recipient: rfc822; lena@harbor.example', 'Action: delayed', 'Status: 4.4.1', ''],
    original: [
      'Content-Type: multipart/report; boundary=inner',
      '',
      '--inner',
      'Content-Type: message/delivery-status',
      '',
      'Final-Recipient: rfc822; olaf@harbor.example',
      'Action: failed',
      'Status: 5.1.1',
      '--inner--',
    ],
  })
  t.strictSame(verdicts(raw), ['lena@harbor.example delayed soft network'])
})

t.test('a report that a gateway attached to its own is read', async (t) => {
  const inner = report({ status: ['Final-Recipient: rfc822; lena@harbor.example', 'Action: failed', 'Status: 5.1.1'] })
  const raw = message(
    'From: MAILER-DAEMON@gate.example',
    'Content-Type: multipart/mixed; boundary=gate',
    '',
    '--gate',
    '',
    'See below.',
    '--gate',
    'Content-Type: message/rfc822',
    '',
    inner.toString(),
    '--gate--',
  )
  t.strictSame(verdicts(raw), ['lena@harbor.example failed hard bad-mailbox'])
})

t.test('at most 20 recipients are read', async (t) => {
  const status = Array.from({ length: 500 }, (_, n) => [
    `Final-Recipient: rfc822; r${n}@b.example`,
    'Action: failed',
    '',
  ])
  for (const type of ['message/delivery-status', 'text/plain']) {
    t.equal(readBounce(report({ type, status: status.flat() })).recipients.length, 20, type)
  }
})

t.test('the returned message shows where our marks may be, as a part or quoted in the text', async (t) => {
  const header = [
    'Return-Path: <b-tag@bounces.ship.example>',
    'X-PR-Ref: abc',
    'List-Unsubscribe: <https://ship.example/u/xyz>,',
    ' <mailto:u@ship.example>',
    'Message-ID: <1@ship.example>',
  ]
  const expected = {
    returnPaths: ['<b-tag@bounces.ship.example>'],
    references: ['abc'],
    listUnsubscribe: ['<https://ship.example/u/xyz>, <mailto:u@ship.example>'],
    originalMailFrom: [],
    messageIds: ['<1@ship.example>'],
  }
  const status = ['Final-Recipient: rfc822; lena@harbor.example', 'Action: failed', 'Status: 5.1.1', '']
  t.strictSame(readBounce(report({ status, original: [...header, '', 'Hi'] })).marks, expected)
  const quoted = message(
    'From: MAILER-DAEMON@harbor.example',
    'Subject: failure notice',
    '',
    'Hi. This is the qmail-send program at harbor.example.',
    '<lena@harbor.example>:',
    'Sorry, no mailbox here by that name. (#5.1.1)',
    '',
    '--- Below this line is a copy of the message.',
    '',
    ...header,
    '',
    'Hi',
  )
  t.strictSame(readBounce(quoted).marks, expected)
})

t.test('at most five values of a mark are kept, each cut to 2,048 characters', async (t) => {
  const original = Array.from({ length: 100 }, (_, n) => `X-PR-Ref: ${n}${'x'.repeat(5000)}`)
  const status = ['Final-Recipient: rfc822; lena@harbor.example', 'Action: failed', 'Status: 5.1.1', '']
  t.strictSame(
    readBounce(report({ status, original: original.slice(0, 10) })).marks.references.map(({ length }) => length),
    [2048, 2048, 2048, 2048, 2048],
  )
})

t.test('parts are read to a depth of 8', async (t) => {
  const formatAt = (depth: number) => {
    const lines = Array.from({ length: depth }, (_, at) => [
      `Content-Type: multipart/mixed; boundary=b${at}`,
      '',
      `--b${at}`,
    ])
    const status = [
      'Content-Type: message/delivery-status',
      '',
      'Final-Recipient: rfc822; a@b.example',
      'Action: failed',
    ]
    return readBounce(message(...lines.flat(), ...status)).format
  }
  t.equal(formatAt(8), 'delivery-status')
  t.equal(formatAt(9), 'fields-in-text', 'the rest is text')
})
