import { createHash } from 'node:crypto'
import { base64Lines } from '../../mime/encode.ts'
import { fileNameOf, reportIdOf, type TlsReportName } from './build.ts'

/** Returns the mail with a report, without Date and Message-ID (RFC 8460 5.3). `TLS-Required` is that of RFC 8689. */
export function reportMail(
  { to, gzipped }: { readonly to: string; readonly gzipped: Buffer },
  options: TlsReportName,
): Buffer {
  const { day, policyDomain, submitter } = options
  const id = reportIdOf(options)
  const boundary = `tls-${createHash('sha256').update(`${id} ${to}`).digest('hex').slice(0, 32)}`
  const head = [
    `From: Postrider <noreply@${submitter}>`,
    `To: <${to}>`,
    `Subject: Report Domain: ${policyDomain} Submitter: ${submitter}\r\n Report-ID: <${id}>`,
    `TLS-Report-Domain: ${policyDomain}`,
    `TLS-Report-Submitter: ${submitter}`,
    'TLS-Required: No',
    'Auto-Submitted: auto-generated',
    'MIME-Version: 1.0',
    `Content-Type: multipart/report; report-type="tlsrpt";\r\n boundary="${boundary}"`,
    '',
    `--${boundary}`,
    'Content-Type: text/plain; charset=us-ascii',
    '',
    `This is the TLS report of ${submitter} about mail to ${policyDomain} on ${day} (UTC).`,
    '',
    `--${boundary}`,
    'Content-Type: application/tlsrpt+gzip',
    'Content-Transfer-Encoding: base64',
    `Content-Disposition: attachment;\r\n filename="${fileNameOf(options)}"`,
    '',
    '',
  ]
  return Buffer.concat([
    Buffer.from(head.join('\r\n'), 'latin1'),
    base64Lines(gzipped),
    Buffer.from(`--${boundary}--\r\n`, 'latin1'),
  ])
}
