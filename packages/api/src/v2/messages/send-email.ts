import { countRecipients, type ErrorName, ServiceError, type Submission } from '@postrider/core'
import { idempotencyKeyOf } from '../../http/idempotency-key.ts'
import { traceParentOf } from '../../http/trace-parent.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { CheckEmailAnswer, SendEmail, SendEmailAnswer } from './send-email-schema.ts'
import { toSubmission } from './to-submission.ts'

export const SEND_EMAIL_ERRORS: readonly ErrorName[] = [
  'personalizationsNotArray',
  'accountExpired',
  'accountSuspended',
  'senderInvalid',
  'recipientsMissing',
  'subjectMissing',
  'templateUnknown',
  'contentMissing',
  'attachmentUnknown',
  'recipientsTooMany',
  'creditsExhausted',
  'keyRestricted',
  'idempotencyConflict',
]

const EXAMPLE = {
  personalizations: [{ recipient: 'lena@harbor.example', attributes: { NAME: 'Lena' } }],
  from: { fromEmail: 'desk@ship.example', fromName: 'Ship Desk' },
  subject: 'Berth 4',
  content: '<p>Hi [%NAME%], your berth is ready.</p>',
}

export const SEND_EMAIL: readonly Operation[] = [
  operation({
    name: 'sendEmail',
    summary: 'Send a message to one or more recipients',
    cli: 'message send',
    group: 'SendEmail',
    scope: 'send',
    routes: [['/sendEmail', 'POST']],
    input: SendEmail,
    answer: SendEmailAnswer,
    errors: SEND_EMAIL_ERRORS,
    example: {
      input: EXAMPLE,
      data: { message_id: '019b8d2f4c7a7c3e9a51c4a1f0e2d3b4' },
    },
    submits: { checkBody: requirePersonalizations },
    async act(body, call) {
      const { core, request, reply } = call
      const submission = submissionOf(body, call)
      const accepted = await core.messages.accept({ ...submission, traceParent: traceParentOf(request) })
      if (accepted.repeated) reply.header('idempotent-replayed', 'true')
      return { data: { message_id: accepted.messageId } }
    },
  }),
  operation({
    name: 'checkEmail',
    summary: 'Check a message as sendEmail would, with the same errors, without sending or storing it',
    cli: { none: 'a command sends a test message' },
    group: 'SendEmail',
    scope: 'send',
    routes: [['/sendEmail/check', 'POST']],
    input: SendEmail,
    answer: CheckEmailAnswer,
    errors: SEND_EMAIL_ERRORS.filter((name) => name !== 'idempotencyConflict'),
    example: { input: EXAMPLE, data: { recipients: 1 } },
    submits: { checkBody: requirePersonalizations },
    async act(body, call) {
      const submission = submissionOf(body, call)
      await call.core.messages.validateOnly(submission)
      return { data: { recipients: countRecipients(submission) } }
    },
  }),
]

function submissionOf(body: SendEmail, { core, principal, by, request }: Call): Submission {
  // Before anything is made of them.
  core.messages.requireRecipients(body.personalizations?.length ?? 0)
  return toSubmission({
    body,
    files: request.fileParts ?? [],
    principal,
    clientAddress: by.address,
    idempotencyKey: idempotencyKeyOf(request),
  })
}

/** Errors 110 and 120 take precedence over all schema errors (contract section 3). */
export function requirePersonalizations(body: unknown): void {
  if (body === undefined || body === null) throw new ServiceError('bodyBlank')
  const { personalizations } = body as { personalizations?: unknown }
  if (personalizations !== undefined && !Array.isArray(personalizations))
    throw new ServiceError('personalizationsNotArray')
}
