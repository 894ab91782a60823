import type { Submission, SubmissionField } from '@postrider/core'
import { writtenPlace } from '../body/null-elements.ts'
import type { SendEmail } from './send-email-schema.ts'

const TOP_LEVEL: Partial<Record<SubmissionField, string>> = {
  fromEmail: 'from.fromEmail',
  fromName: 'from.fromName',
  subject: 'subject',
  replyTo: 'replyToId',
  content: 'content',
  amp: 'ampcontent',
  tags: 'tags',
  scheduledAt: 'schedule',
  idempotencyKey: 'Idempotency-Key',
  class: 'settings.class',
  deadline: 'settings.deadline',
  tls: 'settings.tls',
}
const OF_ENVELOPE: Partial<Record<SubmissionField, string>> = {
  recipient: 'recipient',
  cc: 'recipient_cc',
  bcc: 'recipient_bcc',
  reference: 'x-apiheader',
  referenceCc: 'x-apiheader_cc',
  attributes: 'attributes',
  customArgs: 'metadata',
  headers: 'x-headers',
  attachments: 'attachments',
  attachmentContent: 'attachments',
}
/** Fields of one attachment. */
const OF_FILE: Partial<Record<SubmissionField, string>> = {
  attachments: 'fileName',
  attachmentContent: 'fileContent',
}

/** Returns the client's names of fields. */
export function namesOf({ personalizations, attachments }: SendEmail): Submission['nameOf'] {
  return (field, envelope, key, file) => {
    const top = TOP_LEVEL[field]
    if (top) return top
    const own = OF_ENVELOPE[field] ?? field
    const place = envelope === undefined ? own : `personalizations[${writtenPlace(personalizations, envelope)}].${own}`
    if (file === undefined) return key === undefined ? place : `${place}.${key}`
    const files = envelope === undefined ? attachments : personalizations?.[envelope]?.attachments
    return `${place}[${writtenPlace(files, file)}].${key ?? OF_FILE[field]}`
  }
}
