import { type BounceReading, type ReturnReading, readReturn } from '@postrider/core'

/** A message with these lines, as it comes by SMTP. */
export function message(...lines: readonly string[]): Buffer {
  return Buffer.from(lines.join('\r\n'))
}

/** The recipient of most reports. */
export const LENA = 'lena@harbor.example'
const RETURN_PATH = 'b-tag@bounces.ship.example'
const HEADER = [
  'Return-Path: <>',
  'From: Mail Delivery System <mailer-daemon@harbor.example>',
  `To: ${RETURN_PATH}`,
  'Subject: Undelivered mail',
  'MIME-Version: 1.0',
]

/** A bounce report for people, without parts. */
export function plainReport(text: readonly string[], header: readonly string[] = HEADER): Buffer {
  return message(...header, 'Content-Type: text/plain', '', ...text, '')
}

export interface ReportParts {
  /** The text for people. */
  readonly text?: readonly string[]
  readonly type?: string
  readonly status: readonly string[]
  readonly original?: readonly string[]
}

/** A report with parts: RFC 3464, or RFC 5965 with another type. */
export function report({ text = ['Sorry.'], type = 'message/delivery-status', status, original }: ReportParts): Buffer {
  return message(
    ...HEADER,
    'Content-Type: multipart/report; boundary=limit',
    '',
    '--limit',
    '',
    ...text,
    '--limit',
    `Content-Type: ${type}`,
    '',
    ...status,
    '--limit',
    'Content-Type: message/rfc822',
    '',
    ...(original ?? ['From: desk@ship.example', 'Message-ID: <1@ship.example>', '', 'Hello']),
    '--limit--',
    '',
  )
}

/** Reads a bounce report; throws if it is something else. */
export function readBounce(raw: Buffer): BounceReading {
  const reading: ReturnReading = readReturn(raw)
  if (reading.kind !== 'bounce') throw new Error(`read as ${reading.kind}`)
  return reading
}

/** The recipients of a bounce report in short: who, and with which verdict. */
export function verdicts(raw: Buffer): string[] {
  return readBounce(raw).recipients.map(
    ({ recipient, action, hard, class: of }) => `${recipient} ${action} ${hard ? 'hard' : 'soft'} ${of}`,
  )
}
