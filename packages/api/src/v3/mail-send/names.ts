import type { Submission, SubmissionField } from '@postrider/core'
import type { RawMail } from './body.ts'

const TOP_LEVEL: Partial<Record<SubmissionField, string>> = {
  fromEmail: 'from.email',
  fromName: 'from.name',
  subject: 'subject',
  replyTo: 'reply_to',
  content: 'content',
  amp: 'content',
  tags: 'categories',
  attachments: 'attachments',
  attachmentContent: 'attachments',
  scheduledAt: 'send_at',
  idempotencyKey: 'Idempotency-Key',
  template: 'template_id',
  batch: 'batch_id',
  bypass: 'mail_settings',
  footer: 'mail_settings.footer',
  openTracking: 'tracking_settings.open_tracking',
  unsubscribe: 'tracking_settings.subscription_tracking',
  linkParameters: 'tracking_settings.ganalytics',
  groups: 'asm.groups_to_display',
  class: 'headers.X-PR-Class',
  deadline: 'headers.X-PR-Deadline',
  tls: 'headers.X-PR-TLS',
}
const OF_ENVELOPE: Partial<Record<SubmissionField, string>> = {
  recipient: 'to',
  names: 'to',
  fromEmail: 'from',
  attributes: 'dynamic_template_data',
  data: 'dynamic_template_data',
  customArgs: 'custom_args',
  scheduledAt: 'send_at',
}

/** Returns v3's names of fields, so that core's errors name what the client wrote. */
export function namesOf({ headers, personalizations }: RawMail): Submission['nameOf'] {
  return (field, envelope, key) => {
    const top = TOP_LEVEL[field]
    if (envelope === undefined) return top ?? field
    // A header of the message as a whole is copied to every envelope.
    if (field === 'headers' && key !== undefined && Object.hasOwn(headers ?? {}, key)) return `headers.${key}`
    if (field === 'messageId') {
      const own = messageIdKey(personalizations?.[envelope]?.headers)
      const key = own ?? messageIdKey(headers) ?? 'Message-ID'
      return own === undefined ? `headers.${key}` : `personalizations.${envelope}.headers.${key}`
    }
    const place = `personalizations.${envelope}.${OF_ENVELOPE[field] ?? top ?? field}`
    return key === undefined ? place : `${place}.${key}`
  }
}

function messageIdKey(headers: RawMail['headers']): string | undefined {
  return Object.keys(headers ?? {}).find((key) => key.toLowerCase() === 'message-id')
}
