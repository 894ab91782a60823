import type { Core } from '@postrider/core'
import { requireScope, ServiceError } from '@postrider/core'
import type { FastifyInstance } from 'fastify'
import { clientAddress } from '../http/client-address.ts'
import { idempotencyKeyOf } from '../http/idempotency-key.ts'
import type { Documentation } from '../openapi.ts'
import { success } from './envelope.ts'
import { SendEmail, SendEmailAnswer } from './send-email-schema.ts'
import { toSubmission } from './to-submission.ts'

/** POST /v2/sendEmail (contract section 4): accepts a message for one or more recipients. */
export async function sendEmailRoute(app: FastifyInstance, { core }: { core: Core }): Promise<void> {
  app.post<{ Body: SendEmail }>(
    '/sendEmail',
    {
      config: { group: 'SendEmail', documentation: DOCUMENTATION },
      schema: { body: SendEmail, response: { 200: SendEmailAnswer } },
      onRequest: async ({ principal }) => {
        requireScope(principal, 'send')
        core.messages.requireMaySend(principal)
      },
      preValidation: async ({ body }) => requirePersonalizations(body),
    },
    async (request, reply) => {
      const accepted = await core.messages.accept(
        toSubmission({
          body: request.body,
          files: request.fileParts ?? [],
          principal: request.principal,
          clientAddress: clientAddress(request),
          idempotencyKey: idempotencyKeyOf(request),
        }),
      )
      if (accepted.repeated) reply.header('idempotent-replayed', 'true')
      return success({ message_id: accepted.messageId })
    },
  )
}

const DOCUMENTATION: Documentation = {
  name: 'sendEmail',
  summary: 'Send a message to one or more recipients',
  group: 'SendEmail',
  input: SendEmail,
  answer: SendEmailAnswer.properties.data,
  errors: [
    ...([
      'personalizationsNotArray',
      'accountExpired',
      'accountSuspended',
      'senderInvalid',
      'recipientsMissing',
    ] as const),
    ...(['subjectMissing', 'templateUnknown', 'contentMissing', 'attachmentUnknown', 'recipientsTooMany'] as const),
    'creditsExhausted',
    ...(['keyRestricted', 'idempotencyConflict'] as const),
  ],
  example: {
    input: {
      personalizations: [{ recipient: 'lena@harbor.example', attributes: { NAME: 'Lena' } }],
      from: { fromEmail: 'desk@ship.example', fromName: 'Ship Desk' },
      subject: 'Berth 4',
      content: '<p>Hi [%NAME%], your berth is ready.</p>',
    },
    data: { message_id: '019b8d2f4c7a7c3e9a51c4a1f0e2d3b4' },
  },
  shown: [['/sendEmail', 'POST']],
}

/** Errors 110 and 120 take precedence over all schema errors (contract section 3). */
function requirePersonalizations(body: unknown): void {
  if (body === undefined || body === null) throw new ServiceError('bodyBlank')
  const { personalizations } = body as { personalizations?: unknown }
  if (personalizations !== undefined && !Array.isArray(personalizations))
    throw new ServiceError('personalizationsNotArray')
}
