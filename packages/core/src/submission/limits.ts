import { ATTACHMENT_SIZE } from '../content/files/index.ts'

/** Limits of one submission, the same at every door. */
export const LIMITS = {
  /** Octets of a whole request or SMTP message (SIZE, RFC 1870). */
  messageSize: 30 * 1024 * 1024,
  /** Octets of one attached file, decoded (v2 contract section 4.2). */
  attachmentSize: ATTACHMENT_SIZE,
  /** Files of one call, those of single recipients included: one for each recipient. */
  attachments: 10_000,
  /** Recipients of one SMTP transaction (RFC 5321 4.5.3.1.8 asks for at least 100). */
  smtpRecipients: 1000,
  /** Recipients of one call, copies included. */
  recipients: 10_000,
  /** Characters of the caller's own id of a delivery (v2 contract section 4.2). */
  reference: 255,
  /** Characters of a subject, a name, an extra header's value. */
  headerText: 4096,
  /** Extra header fields of one envelope. */
  headers: 50,
  /** Texts beyond text, AMP and HTML. */
  alternatives: 50,
  /** Characters of what a message says about its unsubscribe link, and of a tag. */
  settingText: 65_536,
  /** Groups the preferences page shows (v3 contract 2.1). */
  groupsToDisplay: 25,
  tags: 50,
  tag: 255,
  idempotencyKey: 256,
  /** Hops before a message is taken to run in circles (V12; RFC 5321 6.3). */
  receivedHeaders: 100,
  /** Days ahead a message may be scheduled. */
  scheduleDays: 30,
} as const
