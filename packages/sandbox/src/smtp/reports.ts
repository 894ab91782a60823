import type { InboxEntry } from '../inbox-entry.ts'

/** Kinds of mail that the sandbox sends back after it has accepted a message. */
export type ReportKind = 'late-bounce' | 'mailbox-full' | 'complaint' | 'auto-reply'

/** The message that is reported on. */
export interface Reported {
  readonly entry: Pick<InboxEntry, 'to' | 'subject'>
  /** Its header, with CRLF. */
  readonly header: Buffer
}

/** A report as mail systems write it, with CRLF. `from` and `to` are the addresses of its envelope. */
export interface Report {
  readonly from: string
  readonly to: string
  readonly raw: Buffer
}

export interface ReportAddresses {
  /** The return path of the message. */
  readonly returnPath: string
  /** The address for complaints. */
  readonly feedback: string
}

const FAILURES = {
  'late-bounce': { status: '5.1.1', reply: '550 5.1.1 The mailbox does not exist' },
  'mailbox-full': { status: '5.2.2', reply: '552 5.2.2 The mailbox is full' },
} as const

/** Writes the report on a message. */
export function makeReport(kind: ReportKind, reported: Reported, { returnPath, feedback }: ReportAddresses): Report {
  if (kind === 'complaint') {
    return { from: 'feedback@sandbox.test', to: feedback, raw: complaint(reported, feedback) }
  }
  const raw = kind === 'auto-reply' ? autoReply(reported, returnPath) : bounce(reported, returnPath, FAILURES[kind])
  // RFC 5321 4.5.5, RFC 3834 3.3.
  return { from: '', to: returnPath, raw }
}

/** RFC 3464. */
function bounce({ entry, header }: Reported, to: string, { status, reply }: { status: string; reply: string }): Buffer {
  return multipart(
    [
      'From: Mail Delivery System <MAILER-DAEMON@sandbox.test>',
      `To: ${to}`,
      'Subject: Undelivered Mail Returned to Sender',
      'Auto-Submitted: auto-replied',
    ],
    'delivery-status',
    [
      part('text/plain', `Your message to ${entry.to} could not be delivered: ${reply}\r\n`),
      part(
        'message/delivery-status',
        `Reporting-MTA: dns; sandbox.test\r\n\r\nFinal-Recipient: rfc822; ${entry.to}\r\nAction: failed\r\nStatus: ${status}\r\n` +
          `Diagnostic-Code: smtp; ${reply}\r\n`,
      ),
      part('text/rfc822-headers', header),
    ],
  )
}

/** RFC 5965. Like most providers it does not say who complains. */
function complaint({ header }: Reported, to: string): Buffer {
  return multipart(
    [
      'From: Feedback Loop <feedback@sandbox.test>',
      `To: ${to}`,
      'Subject: A recipient has marked your message as spam',
    ],
    'feedback-report',
    [
      part('text/plain', 'This is an email abuse report.\r\n'),
      part('message/feedback-report', 'Feedback-Type: abuse\r\nUser-Agent: Postrider-Sandbox/1\r\nVersion: 1\r\n'),
      part('text/rfc822-headers', header),
    ],
  )
}

/** RFC 3834. */
function autoReply({ entry }: Reported, to: string): Buffer {
  const fields = [
    `From: ${entry.to}`,
    `To: ${to}`,
    'Subject: Out of office',
    'Auto-Submitted: auto-replied',
    `Date: ${date()}`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain',
  ]
  return Buffer.from(`${fields.join('\r\n')}\r\n\r\nI am on holiday until next week.\r\n`)
}

const BOUNDARY = 'sandbox-report'

function part(type: string, content: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(`--${BOUNDARY}\r\nContent-Type: ${type}\r\n\r\n`), Buffer.from(content), CRLF])
}

const CRLF = Buffer.from('\r\n')

function multipart(fields: readonly string[], type: string, parts: readonly Buffer[]): Buffer {
  const head = [
    ...fields,
    `Date: ${date()}`,
    'MIME-Version: 1.0',
    `Content-Type: multipart/report; report-type=${type}; boundary="${BOUNDARY}"`,
  ].join('\r\n')
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`), ...parts, Buffer.from(`--${BOUNDARY}--\r\n`)])
}

function date(): string {
  return new Date().toUTCString().replace('GMT', '+0000')
}
