import type { SubmissionField } from '../submission/submission.ts'

const NAMES: Partial<Record<SubmissionField, string>> = {
  fromEmail: 'From',
  fromName: 'From',
  subject: 'Subject',
  replyTo: 'Reply-To',
  tags: 'X-TAGS',
  recipient: 'RCPT TO',
  bcc: 'X-SETTINGS.bcc',
  reference: 'X-APIHEADER',
  attributes: 'X-ATTRIBUTES',
  names: 'X-SMTPAPI.to',
  substitutions: 'X-SMTPAPI.sub',
  sections: 'X-SMTPAPI.section',
  customArgs: 'X-METADATA',
  batch: 'X-SMTPAPI.batch_id',
  scheduledAt: 'X-SMTPAPI.send_at',
  template: 'X-SMTPAPI.filters.templates',
  bypass: 'X-SMTPAPI.filters.bypass',
  footer: 'X-SMTPAPI.filters.footer',
  linkParameters: 'X-SMTPAPI.filters.ganalytics',
  groups: 'X-SMTPAPI.asm_groups_to_display',
  openTracking: 'X-SMTPAPI.filters.opentrack',
  unsubscribe: 'X-SMTPAPI.filters.subscriptiontrack',
  idempotencyKey: 'Idempotency-Key',
  class: 'X-PR-CLASS',
  deadline: 'X-PR-DEADLINE',
  tls: 'X-PR-TLS',
}

/** The name of a field in errors over SMTP: that of its header field. */
export function nameOf(field: SubmissionField, _envelope?: number, key?: string): string {
  const name = NAMES[field] ?? field
  return key === undefined ? name : `${name}.${key}`
}
