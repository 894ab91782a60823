import { readReturn } from '@postrider/core'
import t from 'tap'
import { FOREIGN_FORMATS } from '../../../packages/core/src/returns/read/foreign-formats.ts'
import { message, plainReport, readBounce, verdicts } from './reports.ts'

interface Case {
  readonly format: string
  readonly header?: readonly string[]
  readonly text: readonly string[]
  readonly expected: readonly string[]
}

const LENA = 'lena@harbor.example'
const OLAF = 'olaf@harbor.example'

/** One report of each format, as its servers word them. */
const CASES: readonly Case[] = [
  {
    format: 'exim',
    text: [
      'A message that you sent could not be delivered to one or more of its',
      'recipients. This is a permanent error. The following address(es) failed:',
      '',
      `  ${LENA}`,
      `    SMTP error from remote mail server after RCPT TO:<${LENA}>:`,
      '    host mx.harbor.example [192.0.2.1]: 550 No Such User Here',
      '    <boss@harbor.example>: ask them',
      `  ${OLAF}`,
      '    mailbox is full: retry timeout exceeded',
      '',
      '------ This is a copy of the message, including all the headers. ------',
      '',
      'Subject: 550 5.1.1 User unknown',
    ],
    expected: [`${LENA} failed hard bad-mailbox`, `${OLAF} failed soft mailbox-full`],
  },
  {
    format: 'exim',
    text: ['The following address failed:', '', `  <${LENA}>: Unrouteable address`],
    expected: [`${LENA} failed hard bad-mailbox`],
  },
  {
    format: 'exim-delay',
    text: [
      'The address to which the message has not yet been delivered is:',
      '',
      `  ${LENA}`,
      '    Delay reason: host said: 550 User unknown',
      '',
      'No action is required on your part.',
    ],
    expected: [`${LENA} delayed soft bad-mailbox`],
  },
  {
    format: 'exim-delay',
    text: ['The following address(es) have not yet been delivered:', '', `  ${LENA}: 451 try later`],
    expected: [`${LENA} delayed soft other`],
  },
  {
    format: 'gmail',
    text: [
      'Delivery to the following recipient failed permanently:',
      '',
      `     ${LENA}`,
      '',
      'Technical details of permanent failure:',
      'The error that the other server returned was: 550 550 5.1.1 User unknown (state 14).',
    ],
    expected: [`${LENA} failed hard bad-mailbox`],
  },
  {
    format: 'gmail',
    text: [
      'Delivery to the following recipient failed permanently:',
      '',
      `     ${LENA}`,
      '',
      'The error that the other server returned was: 550 550 User unknown (state 18).',
    ],
    expected: [`${LENA} failed soft filtered`],
  },
  {
    format: 'gmail-delay',
    text: [
      'Delivery to the following recipient has been delayed:',
      '',
      `     ${LENA}`,
      '',
      'DNS Error: Domain name not found',
    ],
    expected: [`${LENA} delayed soft bad-domain`],
  },
  {
    format: 'gmx',
    header: ['From: MAILER-DAEMON@gmx.example', 'Subject: Mail delivery failed: returning message to sender'],
    text: [
      'failed:',
      '',
      `"${LENA}":`,
      'SMTP error from remote server after RCPT command:',
      'host: mx.harbor.example',
      `5.1.1 <${LENA}>... User unknown`,
    ],
    expected: [`${LENA} failed hard bad-mailbox`],
  },
  {
    format: 'zoho',
    header: ['From: mailer-daemon@mail.zoho.example', 'Subject: Undelivered Mail'],
    text: [
      'A message that you sent could not be delivered to one or more of its recipients.',
      '',
      `${LENA} Invalid Address, ERROR_CODE :550, ERROR_CODE :5.1.1 User Unknown`,
    ],
    expected: [`${LENA} failed hard bad-mailbox`],
  },
  {
    format: 'qmail',
    text: [
      'Hi. This is the qmail-send program at harbor.example.',
      '',
      `<${LENA}>:`,
      '192.0.2.1 does not like recipient.',
      'Remote host said: 550 5.1.1 User unknown',
      'Giving up on 192.0.2.1.',
      '',
      `<${OLAF}>:`,
      'Sorry, no mailbox here by that name. (#5.1.1)',
      '',
      '<inga@harbor.example>:',
      'Remote host said: 550 Rejected',
      '',
      'Our mailbox is full of such letters.',
    ],
    expected: [
      `${LENA} failed hard bad-mailbox`,
      `${OLAF} failed hard bad-mailbox`,
      'inga@harbor.example failed soft other',
    ],
  },
  {
    format: 'yahoo',
    text: [
      'Sorry, we were unable to deliver your message to the following address.',
      '',
      `<${LENA}>:`,
      'No mx record found for domain=harbor.example',
    ],
    expected: [`${LENA} failed hard not-accepting`],
  },
  {
    format: 'yahoo-japan',
    text: ['Unable to deliver message to the following address(es).', '', `<${LENA}>:`, 'Mailbox is full [-9]'],
    expected: [`${LENA} failed soft mailbox-full`],
  },
  {
    format: 'postini',
    text: [
      'Your mail message to the following address(es) could not be delivered. This',
      'is a permanent error.',
      '',
      `<${LENA}>:`,
      "the user's mailfolder is full.",
    ],
    expected: [`${LENA} failed soft mailbox-full`],
  },
  {
    format: 'mailfoundry',
    text: [`Unable to deliver message to: <${LENA}>`, 'Server mx[192.0.2.1] failed with: 552 mailbox full'],
    expected: [`${LENA} failed soft mailbox-full`],
  },
  {
    format: 'opensmtpd',
    text: ['    the following list of recipients:', '', `${LENA}: Envelope expired`, `${OLAF}: 550 5.1.1 User unknown`],
    expected: [`${LENA} failed soft expired`, `${OLAF} failed hard bad-mailbox`],
  },
  {
    format: 'dragonfly',
    text: [
      `There was an error delivering your mail to <${LENA}>.`,
      '',
      'mx.harbor.example [192.0.2.1] did not like our DATA:',
      '550 User unknown',
    ],
    expected: [`${LENA} failed soft filtered`],
  },
  {
    format: 'one-recipient',
    text: [`Did not reach the following recipient: ${LENA}`, '', 'Reason: 550 5.1.1 User unknown'],
    expected: [`${LENA} failed hard bad-mailbox`],
  },
  {
    format: 'mailbox-full',
    text: [`User's mailbox is full: <${LENA}>`, 'Unable to deliver mail.'],
    expected: [`${LENA} failed soft mailbox-full`],
  },
  {
    format: 'smail',
    text: [
      '|------------------------- Failed addresses follow: ---------------------|',
      ` ${LENA} ... unknown host`,
      ` ${OLAF} ... unknown user`,
      '|------------------------- Message text follows: ------------------------|',
      ' inga@harbor.example ... unknown user',
    ],
    expected: [`${LENA} failed hard bad-domain`, `${OLAF} failed hard bad-mailbox`],
  },
  {
    format: 'dovecot',
    text: [`Your message to <${LENA}> was automatically rejected:`, 'Not enough disk quota'],
    expected: [`${LENA} failed soft mailbox-full`],
  },
  {
    format: 'domino',
    text: ['was not delivered to:', '', `  ${LENA}`, '', 'because:', '', '  User Lena not listed in Domino Directory'],
    expected: [`${LENA} failed hard bad-mailbox`],
  },
  {
    format: 'exchange',
    text: [
      'did not reach the following recipient(s):',
      '',
      `${LENA} on Mon, 23 Nov 2026 10:00:00 -0000`,
      '    The recipient name is not recognized',
    ],
    expected: [`${LENA} failed hard bad-mailbox`],
  },
  {
    format: 'exchange-online',
    text: [
      'Diagnostic information for administrators:',
      '',
      'Generating server: mx.harbor.example',
      '',
      LENA,
      "Remote Server returned '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found'",
    ],
    expected: [`${LENA} failed hard bad-mailbox`],
  },
  {
    format: 'postfix',
    text: [
      'This is the mail system at host mx.harbor.example.',
      'If you do so, please include this problem report. You can',
      'delete your own text from the attached returned message.',
      '',
      `<${LENA}>: host mx[192.0.2.1] said: 550 User unknown (in reply to`,
      '    end of DATA command)',
    ],
    expected: [`${LENA} failed soft filtered`],
  },
  {
    format: 'imail',
    header: ['From: postmaster@harbor.example', 'Subject: Undeliverable Mail'],
    text: [`Unknown user: ${LENA}`, '', 'Original message follows.'],
    expected: [`${LENA} failed hard bad-mailbox`],
  },
  {
    format: 'imail-response',
    header: ['From: postmaster@harbor.example', 'Subject: Undeliverable Mail'],
    text: [`undeliverable to ${LENA}`, '', 'Body of message generated response:', '550 5.1.1 User unknown'],
    expected: [`${LENA} failed hard bad-mailbox`],
  },
  {
    format: 'm-filter',
    text: ['-------server message', '550 unknown user', '-------SMTP command', 'DATA', '-------original message'],
    expected: [' failed soft filtered'],
  },
  {
    format: 'pmdf',
    text: [
      'Your message cannot be delivered to the following recipients:',
      '',
      `  Recipient address: ${LENA}`,
      '  Diagnostic code: smtp; 550 5.1.1 User Unknown',
      `  Recipient address: ${OLAF}`,
      '  Reason: mailbox full',
    ],
    expected: [`${LENA} failed hard bad-mailbox`, `${OLAF} failed soft mailbox-full`],
  },
  {
    format: 'fml',
    header: ['From: list-admin@harbor.example', 'Subject: Ignored NOT MEMBER article from desk'],
    text: ['You are not a member of this list.', 'Original mail as follows:', '550 5.1.1 User unknown'],
    expected: [' failed soft other'],
  },
  {
    format: 'apache-james',
    text: [
      'Error message below:',
      '550 - no such user here',
      '',
      '  MAIL FROM: desk@ship.example',
      `  RCPT TO: ${LENA}`,
    ],
    expected: [`${LENA} failed soft filtered`],
  },
  {
    format: 'active-hunter',
    text: [
      '  ----- The following addresses had permanent fatal errors -----',
      '',
      `>>> ${LENA} <${LENA}>`,
      '',
      '  ----- Transcript of session follows -----',
      '550 sorry, no mailbox here by that name (#5.1.1 - chkusr)',
    ],
    expected: [`${LENA} failed hard bad-mailbox`],
  },
  {
    format: 'addresses',
    text: [
      '   ----- The following addresses had delivery problems -----',
      LENA,
      '',
      '   ----- Non-delivered information -----',
      "The number of messages in recipient's mailbox exceeded the local limit.",
    ],
    expected: [`${LENA} failed soft mailbox-full`],
  },
  {
    format: 'sendmail-transcript',
    text: [
      '   ----- Transcript of session follows -----',
      '>>> QUIT',
      '<<< 421 try later',
      'While talking to mx.harbor.example:',
      `>>> RCPT To:<${LENA}>`,
      '<<< 550 No such user here',
      `550 <${LENA}>... User unknown`,
      'While talking to mx.harbor.example:',
      '>>> DATA',
      '<<< 550 User unknown',
      `554 <${OLAF}>... Remote protocol error`,
    ],
    expected: [`${LENA} failed hard bad-mailbox`, `${OLAF} failed soft filtered`],
  },
  {
    format: 'notes',
    text: ['------- Failure Reasons  --------', '', 'User not listed in public Name & Address Book', LENA],
    expected: [`${LENA} failed hard bad-mailbox`],
  },
  {
    format: 'surfcontrol',
    text: ['Failed to send to identified host,', `${LENA}: [192.0.2.1], 552 mailbox full`],
    expected: [`${LENA} failed soft mailbox-full`],
  },
  {
    format: 'x6',
    text: [
      '1 error(s):',
      '',
      `The following recipients returned permanent errors: ${LENA}. Reason: SMTP Server refused to accept your message (DATA), with the following error message: [550 User unknown]`,
    ],
    expected: [`${LENA} failed soft filtered`],
  },
  {
    format: 'kddi',
    text: [`     Could not be delivered to: <${LENA}>`, '     As their mailbox is full.'],
    expected: [`${LENA} failed soft mailbox-full`],
  },
  {
    format: 'ezweb',
    text: [
      'Each of the following recipients was rejected by a remote',
      'mail server.',
      '',
      `    Recipient: <${LENA}>`,
      `    >>> RCPT TO:<${LENA}>`,
      `    <<< 550 <${LENA}>: User unknown`,
    ],
    expected: [`${LENA} failed hard bad-mailbox`],
  },
  {
    format: 'ezweb-account',
    text: ['The user(s) account is disabled.', '', `<${LENA}>: 550 user unknown (in reply to RCPT TO command)`],
    expected: [`${LENA} failed soft mailbox-inactive`],
  },
  {
    format: 'ezweb-late',
    text: ['Your message was not delivered within 0 days and 1 hours.', '', `<${LENA}>`],
    expected: [`${LENA} failed soft expired`],
  },
  {
    format: 'verizon',
    text: ['Message could not be delivered to mobile.', 'Error: No valid recipients for this MM'],
    expected: [' failed hard bad-mailbox'],
  },
]

for (const { format, header, text, expected } of CASES) {
  t.test(`a report in the format ${format} is read: ${expected[0]}`, async (t) => {
    const raw = plainReport(text, header)
    t.strictSame(verdicts(raw), expected)
    t.equal(readBounce(raw).format, format)
  })
}

t.test('every format of the table has such a report', async (t) => {
  const tested = new Set(CASES.map(({ format }) => format))
  t.strictSame(
    FOREIGN_FORMATS.map(({ name }) => name).filter((name) => !tested.has(name)),
    [],
  )
})

t.test('fields of a report within the text are read', async (t) => {
  const raw = plainReport([
    'Technical report:',
    '',
    `Final-Recipient: rfc822; ${LENA}`,
    'Action: failed',
    'Status: 5.1.1',
  ])
  t.equal(readBounce(raw).format, 'fields-in-text')
  t.strictSame(verdicts(raw), [`${LENA} failed hard bad-mailbox`])
})

t.test('of an unknown format, the first reply before the returned message is read', async (t) => {
  const text = [
    'We could not do it.',
    'The server said: 552 5.2.2 mailbox full',
    '',
    'Original message:',
    '550 5.1.1 User unknown',
  ]
  t.strictSame(verdicts(plainReport(text)), [' failed soft mailbox-full'])
  const header = ['From: postmaster@harbor.example', `X-Failed-Recipients: ${LENA}`]
  t.strictSame(verdicts(plainReport(text, header)), [`${LENA} failed soft mailbox-full`])
  t.strictSame(verdicts(plainReport(['Kontakt nicht gefunden.'], header)), [`${LENA} failed soft other`])
  t.equal(readReturn(plainReport(['We could not do it.'])).kind, 'unrecognised')
})

t.test('a report in HTML only is read without its tags', async (t) => {
  const raw = message(
    'From: postmaster@harbor.example',
    'Content-Type: text/html',
    '',
    '<html><p>Sorry.</p><b>550&nbsp;5.1.1</b> <i>User</i> unknown<br>&lt;lena&gt;</html>',
  )
  t.strictSame(verdicts(raw), [' failed hard bad-mailbox'])
})

t.test('quoted-printable with errors, and the charset of mobile carriers, are decoded', async (t) => {
  const raw = message(
    'From: postmaster@harbor.example',
    'Content-Type: text/plain; charset=iso-2022-jp',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    '\x1b$B%a!<%k\x1b(B = x',
    'Could not be delivered to: <lena=40harbor.ex=',
    'ample>',
    'As their mailbox is full.',
  )
  t.strictSame(verdicts(raw), [`${LENA} failed soft mailbox-full`])
})

t.test('notifications of Amazon SES by mail are read', async (t) => {
  const of = (json: unknown) => plainReport([JSON.stringify(json), '', '--', 'Unsubscribe here'])
  const bounced = of({
    notificationType: 'Bounce',
    bounce: {
      bouncedRecipients: [
        { emailAddress: LENA, action: 'failed', status: '5.1.1', diagnosticCode: 'smtp; 550 5.1.1 no' },
      ],
    },
  })
  t.strictSame(verdicts(bounced), [`${LENA} failed hard bad-mailbox`])
  const divided = Buffer.from(bounced.toString().replace('"status"', '"st!\r\n atus"'))
  t.strictSame(verdicts(divided), [`${LENA} failed hard bad-mailbox`], 'a long line was divided')
  t.equal(readBounce(divided).format, 'ses')
  const delivered = of({ notificationType: 'Delivery', delivery: { recipients: [LENA], smtpResponse: '250 2.6.0 ok' } })
  t.strictSame(verdicts(delivered), [`${LENA} delivered soft other`])
  const complaint = of({ notificationType: 'Complaint', complaint: { complainedRecipients: [{ emailAddress: LENA }] } })
  t.match(readReturn(complaint), { kind: 'complaint', feedbackType: 'abuse', recipients: [LENA] })
  for (const json of [
    { notificationType: 'Bounce' },
    { notificationType: 'Bounce', bounce: 1 },
    { a: 1 },
    { notificationType: 'Delivery', delivery: { recipients: [null] } },
  ]) {
    t.match(readReturn(of(json)).kind, /^(unrecognised|bounce)$/)
  }
})
