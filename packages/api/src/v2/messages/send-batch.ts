import {
  type AcceptOutcome,
  type Attempted,
  type Core,
  ERRORS,
  type ErrorName,
  invalidParameter,
  LIMITS,
  type Principal,
  requireAllowed,
  requireIdempotencyKey,
  ServiceError,
  type Submission,
} from '@postrider/core'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { idempotencyKeyOf } from '../../http/idempotency-key.ts'
import { traceParentOf } from '../../http/trace-parent.ts'
import { sayIgnored } from '../../ignored.ts'
import { skipNullElements } from '../body/null-elements.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { schemaRefusal } from '../schema-refusal.ts'
import { CLOSED, unknownFinder } from '../unknown-parameters.ts'
import { requirePersonalizations, SEND_EMAIL_ERRORS } from './send-email.ts'
import { SendEmail } from './send-email-schema.ts'
import { toSubmission } from './to-submission.ts'

/** Messages of one call, and bytes of its body: those of Postmark, whose callers have their lists cut to them. */
const MAX_MESSAGES = 500
const MAX_BYTES = 50 * 1024 * 1024

const Result = Type.Object({
  message_id: Type.Union([Type.String(), Type.Null()], { description: 'null: the message was refused' }),
  repeated: Type.Boolean({ description: 'whether an earlier call with its idempotency key has sent it' }),
  error_info: Type.Union([
    Type.Object({ error_message: Type.String(), error_code: Type.Integer() }),
    Type.Null({ description: 'the message was accepted' }),
  ]),
})

export const SEND_BATCH: readonly Operation[] = [
  operation({
    name: 'sendBatch',
    summary:
      'Send up to 500 different messages. Each is accepted or refused by itself; the answers have the order of the messages. The status is 200 if the call ' +
      'could be read, even if every message was refused',
    cli: { none: 'a list of different messages is written by a program; message send and message submit send one' },
    group: 'SendEmail',
    scope: 'send',
    sends: true,
    takesMany: MAX_BYTES,
    routes: [['/messages/batch', 'POST']],
    input: Type.Object(
      {
        messages: Type.Array(
          Type.Unknown({
            description:
              'what sendEmail takes, and its own idempotencyKey, with which a repeated message is not sent again',
          }),
          { minItems: 1, maxItems: MAX_MESSAGES },
        ),
      },
      CLOSED,
    ),
    answer: Type.Object({
      accepted: Type.Integer(),
      refused: Type.Integer(),
      results: Type.Array(Result, { description: 'one for each message, in their order' }),
    }),
    errors: ['accountExpired', 'accountSuspended'],
    example: {
      input: {
        messages: [
          {
            personalizations: [{ recipient: 'lena@harbor.example' }],
            from: { fromEmail: 'desk@ship.example' },
            subject: 'Berth 4',
            content: '<p>Your berth is ready.</p>',
            idempotencyKey: 'berth-4-ready',
          },
          { personalizations: [], from: { fromEmail: 'desk@ship.example' } },
        ],
      },
      data: {
        accepted: 1,
        refused: 1,
        results: [
          { message_id: '019b8d2f4c7a7c3e9a51c4a1f0e2d3b4', repeated: false, error_info: null },
          {
            message_id: null,
            repeated: false,
            error_info: {
              error_message: 'Recipient list is empty, at least one recipient is required',
              error_code: 114,
            },
          },
        ],
      },
    },
    async act({ messages }, call) {
      const { core, principal, request } = call
      core.messages.requireMaySend(principal)
      // With room for the places.
      requireIdempotencyKey(
        idempotencyKeyOf(request),
        'Idempotency-Key',
        LIMITS.idempotencyKey - ` ${MAX_MESSAGES}`.length,
      )
      core.messages.requireRecipients(messages.reduce((sum: number, one) => sum + recipientsOf(one), 0))
      await takeRate(core, principal, messages.length)
      // If the templates are found to be large, a thread takes the call over, and does not count it again.
      request.principal = { ...principal, rates: { ...principal.rates, sends: null } }
      const ignored: string[] = []
      const outcomes = await core.messages.acceptAll(attempts(messages, call, ignored), messages.length)
      requireSome(outcomes)
      sayIgnored(call.reply, ignored)
      const results = outcomes.map((outcome) => resultOf(outcome, request))
      const refused = results.filter(({ error_info }) => error_info !== null).length
      return { data: { accepted: results.length - refused, refused, results } }
    },
  }),
]

/** Before anything is made of them; what is not a message counts as one. */
function recipientsOf(message: unknown): number {
  const { personalizations } = (message ?? {}) as { readonly personalizations?: unknown }
  return Array.isArray(personalizations) ? Math.max(personalizations.length, 1) : 1
}

/** The call was counted as one message when it came. */
async function takeRate({ rateLimits }: Core, { rates: { sends } }: Principal, messages: number): Promise<void> {
  if (sends && messages > 1) requireAllowed(await rateLimits.take(sends, messages - 1))
}

const unknownIn = unknownFinder(
  Type.Object({ messages: Type.Array(Type.Object({ ...SendEmail.properties, idempotencyKey: Type.Unknown() })) }),
)

function* attempts(messages: readonly unknown[], call: Call, ignored: string[]): Generator<Attempted> {
  for (const [at, message] of messages.entries()) {
    let attempted: Attempted
    try {
      attempted = toSubmissionOf(message, at, call)
    } catch (refusal) {
      attempted = { refusal }
    }
    ignored.push(...unknownIn({ messages: [message] }).map((name) => name.replace('messages[0]', `messages[${at}]`)))
    yield attempted
  }
}

function toSubmissionOf(message: unknown, at: number, { principal, by, request }: Call): Submission {
  if (typeof message !== 'object' || message === null || Array.isArray(message))
    throw invalidParameter(`messages[${at}]`, 'must be an object')
  const { idempotencyKey: own, ...body } = message as Record<string, unknown>
  if (own != null && typeof own !== 'string') throw invalidParameter('idempotencyKey', 'must be a string')
  requirePersonalizations(Object.keys(body).length === 0 ? undefined : body)
  skipNullElements(body)
  const validate = request.getValidationFunction(SendEmail) ?? request.compileValidationSchema(SendEmail)
  if (!validate(body)) throw schemaRefusal(validate.errors ?? [], body, SEND_EMAIL_ERRORS)
  const ofCall = idempotencyKeyOf(request)
  const submission = toSubmission({
    body: body as SendEmail,
    files: [],
    principal,
    clientAddress: by.address,
    idempotencyKey: own ?? (ofCall === undefined ? undefined : `${ofCall} ${at}`),
  })
  const nameOf = namesWith(submission.nameOf, own != null)
  return { ...submission, nameOf, traceParent: traceParentOf(request) }
}

function namesWith(nameOf: Submission['nameOf'], hasOwnKey: boolean): Submission['nameOf'] {
  return (field, ...place) => (hasOwnKey && field === 'idempotencyKey' ? field : nameOf(field, ...place))
}

/** If the service could take none of them, the call fails as any other does, so that its client repeats it. */
function requireSome(outcomes: readonly AcceptOutcome[]): void {
  const names = outcomes.map((one) => (one.status === 'rejected' ? failureOf(one.reason) : undefined))
  const [first] = outcomes
  if (first?.status === 'rejected' && names[0] !== undefined && names.every((name) => name === names[0]))
    throw first.reason
}

/** The error that is not the caller's, if it is such a one. */
function failureOf(reason: unknown): ErrorName | undefined {
  if (!(reason instanceof ServiceError)) return 'internal'
  return reason.row.status >= 500 ? reason.errorName : undefined
}

function resultOf(outcome: AcceptOutcome, { log }: FastifyRequest) {
  if (outcome.status === 'fulfilled')
    return { message_id: outcome.value.messageId, repeated: outcome.value.repeated, error_info: null }
  const { reason } = outcome
  if (reason instanceof ServiceError) log.info({ refusal: reason.errorName, reason: reason.reason }, 'message rejected')
  else log.error({ err: reason }, 'internal error')
  const refusal = reason instanceof ServiceError ? reason : undefined
  const { v2, sentence } = refusal?.row ?? ERRORS.internal
  const error_info = { error_message: refusal?.message ?? sentence, error_code: v2 }
  return { message_id: null, repeated: false, error_info }
}
