import { ServiceError } from '@postrider/core'
import Type from 'typebox'
import { clientAddress } from '../../http/client-address.ts'
import { idempotencyKeyOf } from '../../http/idempotency-key.ts'
import { type Operation, operation } from '../operation.ts'
import { CLOSED } from '../unknown-parameters.ts'
import { MessageId } from './message-shapes.ts'

const Target = Type.Object({ messageId: MessageId })
const messageId = '019b8d6a3c80700080000000000000a1'

/** Maximum number of recipients of a message. */
const MAX_RECIPIENTS = 10_000

const Recipients = Type.Optional(
  Type.Array(Type.Integer({ minimum: 0, maximum: MAX_RECIPIENTS }), {
    minItems: 1,
    maxItems: MAX_RECIPIENTS,
    description: 'numbers of recipients (recipientNo); default all',
  }),
)

const sorted = (recipients: readonly number[] | undefined) =>
  recipients && [...new Set(recipients)].sort((a, b) => a - b)

/** Changes of one message. */
export const MESSAGE_ACTIONS: readonly Operation[] = [
  operation({
    name: 'resend',
    summary:
      'Send an accepted message again, as a new one with the same content, to all its recipients, some, or a corrected address. An Idempotency-Key ' +
      'makes a repeated call safe',
    cli: 'message resend',
    group: 'Message',
    scope: 'send',
    sends: true,
    routes: [['/messages/:messageId/resend', 'POST']],
    input: Type.Object(
      {
        messageId: MessageId,
        recipients: Recipients,
        to: Type.Optional(
          Type.String({
            maxLength: 1000,
            description: 'a corrected address in place of that of the recipient, who must be the only one chosen',
          }),
        ),
      },
      CLOSED,
    ),
    answer: Type.Object({
      messageId: Type.String({ description: 'the id of the new message' }),
      resentFrom: Type.String(),
    }),
    errors: [
      'messageNotFound',
      'messageBodyGone',
      'messageBodyUnreadable',
      'accountSuspended',
      'accountExpired',
      'senderInvalid',
      'keyRestricted',
      'recipientsMissing',
      'creditsExhausted',
      'idempotencyConflict',
    ],
    example: {
      input: { messageId, recipients: [0], to: 'lena@harbor.example' },
      data: { messageId: '019b8d6b3c80700080000000000000b2', resentFrom: messageId },
    },
    async act({ messageId, recipients, to }, { core, principal, request }) {
      const accepted = await core.messages.resend({
        principal,
        messageId,
        recipientNos: sorted(recipients),
        to,
        clientAddress: clientAddress(request),
        idempotencyKey: idempotencyKeyOf(request),
      })
      return { data: { messageId: accepted.messageId, resentFrom: messageId.replaceAll('-', '').toLowerCase() } }
    },
  }),
  operation({
    name: 'tryNow',
    summary: 'Make the deferred deliveries of a message due now; limits and pauses apply as before',
    cli: 'message try',
    group: 'Message',
    scope: 'send',
    routes: [['/messages/:messageId/try-now', 'POST']],
    input: Target,
    answer: Type.Object({
      messageId: Type.String(),
      due: Type.Integer({ description: 'deliveries that are due now' }),
      notYet: Type.Integer({
        description:
          'deferred deliveries that were tried within the last minute, or wait for another reason than their time',
      }),
      others: Type.Integer({ description: 'deliveries that are not deferred' }),
    }),
    errors: ['messageNotFound'],
    example: { input: { messageId }, data: { messageId, due: 1, notYet: 0, others: 0 } },
    async act({ messageId }, { core, principal, by }) {
      const result = await core.messages.tryNow({ messageId, accountId: principal.account.id }, by)
      if (!result) throw new ServiceError('messageNotFound')
      const { id, due, notYet, others } = result
      return { data: { messageId: id, due, notYet, others } }
    },
  }),
  operation({
    name: 'cancelMessage',
    summary:
      'Drop the deliveries of a message that are scheduled or waiting, of all its recipients or some; those that are being sent are not affected',
    cli: 'message cancel',
    group: 'Message',
    scope: 'send',
    routes: [['/messages/:messageId/cancel', 'POST']],
    input: Type.Object({ messageId: MessageId, recipients: Recipients }, CLOSED),
    answer: Type.Object({
      messageId: Type.String(),
      cancelled: Type.Integer(),
      inFlight: Type.Integer({ description: 'deliveries that are being sent' }),
      final: Type.Integer({ description: 'deliveries that had ended before' }),
    }),
    errors: ['messageNotFound'],
    example: { input: { messageId }, data: { messageId, cancelled: 1, inFlight: 0, final: 0 } },
    async act({ messageId, recipients }, { core, principal, by }) {
      const recipientNos = sorted(recipients)
      const result = await core.messages.cancel({ messageId, accountId: principal.account.id, recipientNos }, by)
      if (!result) throw new ServiceError('messageNotFound')
      const { id, cancelled, inFlight, final } = result
      return { data: { messageId: id, cancelled, inFlight, final } }
    },
  }),
  operation({
    name: 'rescheduleMessage',
    summary: 'Give the deliveries of a message that are scheduled and not yet due another time',
    cli: 'message reschedule',
    group: 'Message',
    scope: 'send',
    routes: [
      ['/messages/:messageId', 'PATCH'],
      ['/messages/:messageId/schedule', 'POST'],
    ],
    input: Type.Object(
      {
        messageId: MessageId,
        schedule: Type.Union([Type.String({ maxLength: 300 }), Type.Integer()], {
          description:
            'ISO 8601 with offset or zone (RFC 9557), as 2026-12-24T09:00:00[Europe/Berlin], or Unix seconds; without a zone, that of the account. ' +
            'One that has passed: now',
        }),
      },
      CLOSED,
    ),
    answer: Type.Object({
      messageId: Type.String(),
      scheduledAt: Type.String({ description: 'ISO 8601, UTC' }),
      rescheduled: Type.Integer({ description: 'deliveries that have this time now' }),
      others: Type.Integer({ description: 'deliveries that were due already, or have ended' }),
    }),
    errors: ['messageNotFound', 'messageDue'],
    example: {
      input: { messageId, schedule: '2026-01-06T09:00:00[Europe/Berlin]' },
      data: { messageId, scheduledAt: '2026-01-06T08:00:00.000Z', rescheduled: 1, others: 0 },
    },
    async act({ messageId, schedule }, { core, principal, by }) {
      const accountId = principal.account.id
      const result = await core.messages.reschedule({ messageId, accountId, schedule: String(schedule) }, by)
      if (!result) throw new ServiceError('messageNotFound')
      const { id, scheduledAt, rescheduled, others } = result
      return { data: { messageId: id, scheduledAt: scheduledAt.toISOString(), rescheduled, others } }
    },
  }),
]
