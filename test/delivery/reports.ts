/** Reports as mail systems write them. */

const ORIGINAL = (returnPath: string, extra = '') =>
  `Return-Path: <${returnPath}>\r\n${extra}From: desk@ship.example\r\nSubject: Berth 4\r\n\r\n`

export interface ReportedFailure {
  readonly recipient?: string
  readonly action?: string
  readonly status?: string
  readonly diagnostic?: string
}

/** A bounce report (RFC 3464) to a return path. */
export function bounceReport(to: string, failures: readonly ReportedFailure[] = [{}]): string {
  const blocks = failures.map(
    ({ recipient = 'lena@harbor.example', action = 'failed', status = '5.1.1', diagnostic }) =>
      `Final-Recipient: rfc822; ${recipient}\r\nAction: ${action}\r\nStatus: ${status}\r\n` +
      `Diagnostic-Code: smtp; ${diagnostic ?? `550 ${status} <${recipient}>: User unknown`}\r\n`,
  )
  return [
    'From: MAILER-DAEMON@mx.harbor.example (Mail Delivery System)',
    `To: ${to}`,
    'Subject: Undelivered Mail Returned to Sender',
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'Your message could not be delivered.',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    `Reporting-MTA: dns; mx.harbor.example\r\n\r\n${blocks.join('\r\n')}`,
    '--b',
    'Content-Type: text/rfc822-headers',
    '',
    ORIGINAL(to),
    '--b--',
    '',
  ].join('\r\n')
}

/** A complaint (RFC 5965), whose returned message has these header fields. */
export function complaintReport(fields: string, { type = 'abuse', to = 'fbl@ship.example' } = {}): string {
  return [
    'From: feedback@arf.harbor.example',
    `To: ${to}`,
    'Subject: complaint',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'This is an email abuse report.',
    '--b',
    'Content-Type: message/feedback-report',
    '',
    `Feedback-Type: ${type}\r\nUser-Agent: Harbor/1\r\nVersion: 1\r\n`,
    '--b',
    'Content-Type: message/rfc822',
    '',
    `${fields}From: desk@ship.example\r\nTo: redacted@harbor.example\r\nSubject: Berth 4\r\n\r\nReady.\r\n`,
    '--b--',
    '',
  ].join('\r\n')
}
