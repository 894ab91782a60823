import { ATTACHMENT_SIZE } from '../content/files/index.ts'

/** Limits of one submission, the same at every entry point. */
export const LIMITS = {
  /** Bytes of a whole request or SMTP message (SIZE, RFC 1870). */
  messageSize: 30 * 1024 * 1024,
  /** Bytes of one decoded attachment (v2 contract section 4.2). */
  attachmentSize: ATTACHMENT_SIZE,
  /** Attachments of one call, including those of single recipients: one for each recipient. */
  attachments: 10_000,
  /** Recipients of one SMTP transaction (RFC 5321 4.5.3.1.8 requires at least 100). */
  smtpRecipients: 1000,
  /** Recipients of one call, including cc and bcc. */
  recipients: 10_000,
  /** Recipients per day (UTC) of an account on trial. */
  trialRecipients: 100,
  /** Characters of the caller's own id of a delivery (v2 contract section 4.2). */
  reference: 255,
  /** Bytes of the names and values together that come back in the events of a delivery; v3 has a limit of its own. */
  metadata: 2048,
  /** Characters of a subject, of a name, and of the value of an extra header. */
  headerText: 4096,
  /** Extra header fields of one envelope. */
  headers: 50,
  /** Alternatives in addition to text, AMP and HTML. */
  alternatives: 50,
  /** Characters of a message's unsubscribe text, and of its tag. */
  settingText: 65_536,
  /** Groups shown on the preferences page (v3 contract 2.1). */
  groupsToDisplay: 25,
  tags: 50,
  tag: 255,
  idempotencyKey: 256,
  /** Received headers from which a message counts as looping (V12; RFC 5321 6.3). */
  receivedHeaders: 100,
  /** Maximum days in advance a message can be scheduled. */
  scheduleDays: 30,
} as const
