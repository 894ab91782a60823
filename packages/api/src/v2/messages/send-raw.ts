import {
  checkWhole,
  domainOfSender,
  type Envelope,
  envelopeIn,
  inTurns,
  invalidParameter,
  LIMITS,
  nameOf,
  parseAddress,
  recipientsAtMost,
  ServiceError,
  type StatusNotifications,
  type SubmissionField,
  splitHeader,
  submitRaw,
} from '@postrider/core'
import Type, { type Static } from 'typebox'
import { idempotencyKeyOf } from '../../http/idempotency-key.ts'
import { traceParentOf } from '../../http/trace-parent.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { CLOSED } from '../unknown-parameters.ts'
import { parseMailbox, splitMailboxes } from './mailboxes.ts'
import { fromBase64 } from './to-submission.ts'

const Input = Type.Object(
  {
    raw: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'the message in base64; or the body is the message, of the type message/rfc822',
      }),
    ),
    from: Type.Optional(
      Type.Union([Type.String({ maxLength: 1000 }), Type.Null()], {
        description: "the envelope's sender, as in MAIL FROM; empty: the null sender. Default: the address in From",
      }),
    ),
    to: Type.Optional(
      Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: LIMITS.recipients }), Type.Null()], {
        description:
          "the envelope's recipients, as in RCPT TO, in a list or separated by commas. Default: those in To, Cc and Bcc",
      }),
    ),
  },
  CLOSED,
)

/** The relay's way into the service, over HTTP. */
export const SEND_RAW: readonly Operation[] = [
  operation({
    name: 'sendRaw',
    summary:
      'Send a MIME message, as over SMTP: the same checks, corrections and control fields. Bcc is removed. An Idempotency-Key makes a repeated call safe',
    cli: 'message submit',
    group: 'SendEmail',
    scope: 'send',
    sends: true,
    takesMessage: true,
    routes: [['/messages/raw', 'POST']],
    input: Input,
    answer: Type.Object({
      message_id: Type.String(),
      corrected: Type.Union([Type.String(), Type.Null()], {
        description: 'what was corrected in the message, in words',
      }),
      problems: Type.Array(Type.Object({ path: Type.String(), problem: Type.String() }), {
        description: 'why the message was accepted and dropped for all recipients: the mistakes in its X-SMTPAPI field',
      }),
    }),
    errors: [
      'messageMalformed',
      'lineEndingInvalid',
      'mailLoop',
      'accountExpired',
      'accountSuspended',
      'senderInvalid',
      'recipientsMissing',
      'templateUnknown',
      'recipientsTooMany',
      'creditsExhausted',
      'keyRestricted',
      'idempotencyConflict',
    ],
    example: {
      input: {
        raw: Buffer.from(
          'From: Ship Desk <desk@ship.example>\r\nTo: lena@harbor.example\r\nSubject: Berth 4\r\n\r\nYour berth is ready.\r\n',
        ).toString('base64'),
        to: ['lena@harbor.example'],
      },
      data: { message_id: '019b8d2f4c7a7c3e9a51c4a1f0e2d3b4', corrected: null, problems: [] },
    },
    async act(input, call) {
      const { core, principal, by, request, reply } = call
      core.messages.requireMaySend(principal)
      const checked = await inTurns(checkWhole(messageOf(input, call)))
      const { sender, recipients } = await envelopeOf(input, checked.pieces[0] as Buffer, call)
      const accepted = await submitRaw(core, request.log, {
        ...checked,
        entry: {
          door: 'v2',
          nameOf: nameOfField,
          idempotencyKey: idempotencyKeyOf(request),
          traceParent: traceParentOf(request),
        },
        sender,
        recipients,
        principal,
        notifications: await notificationsOf(sender, recipients, call),
        trace: { helo: literalOf(by.address), address: by.address, protocol: 'HTTP' },
        // The body was counted several times when it was read.
        hold() {},
      })
      if (accepted.repeated) reply.header('idempotent-replayed', 'true')
      const { messageId, corrected = null, problems } = accepted
      return {
        data: { message_id: messageId, corrected, problems: problems.map(({ path, problem }) => ({ path, problem })) },
      }
    },
  }),
]

/** Mailgun's clients send the message as a file of a form. */
function messageOf({ raw }: Static<typeof Input>, { request }: Call): Buffer {
  const [file, ...others] = request.fileParts ?? []
  if (others.length > 0) throw invalidParameter('raw', 'must be one file: each message is a call of its own')
  const whole = request.message ?? file?.octets
  if (whole && raw != null) throw invalidParameter('raw', 'must be omitted if the body has the message itself')
  const message = whole ?? (raw == null ? undefined : fromBase64(raw))
  if (message && message.length > 0) return message
  if (raw == null || raw === '') throw new ServiceError('parameterMissing', { values: { parameter: 'raw' } })
  throw invalidParameter('raw', 'must be base64')
}

/** Throws BeyondShare before anything is made of many recipients. */
async function envelopeOf(
  { from, to }: Static<typeof Input>,
  first: Buffer,
  { core, principal }: Call,
): Promise<Envelope> {
  const given = to == null ? undefined : listOf(to)
  if (given) core.messages.requireRecipients(given.length)
  const own = from == null || given === undefined ? await ownEnvelope() : { sender: '', recipients: [] }
  const sender = from == null ? own.sender : from.trim().replace(/^<(.*)>$/, '$1')
  // The address in From is checked by the rules.
  if (from != null && sender !== '') await domainOfSender(core, principal, sender, 'from')
  return { sender: parseAddress(sender)?.text ?? sender, recipients: given ?? own.recipients }

  async function ownEnvelope(): Promise<Envelope> {
    const { fields } = await inTurns(splitHeader(first))
    core.messages.requireRecipients(recipientsAtMost(fields))
    return inTurns(envelopeIn(fields))
  }
}

function listOf(to: string | readonly string[]): string[] {
  const list = typeof to === 'string' ? splitMailboxes(to, LIMITS.recipients) : to
  return list.filter((address) => address.trim() !== '').map((address) => parseMailbox(address).address)
}

/** An address literal (RFC 5321 4.1.3), as no client of HTTP tells its name. */
function literalOf(address: string): string {
  return address.includes(':') ? `[IPv6:${address}]` : `[${address}]`
}

/** Those that the account's setting wants of mail by SMTP. */
function notificationsOf(
  sender: string,
  recipients: readonly string[],
  { core, principal }: Call,
): Promise<StatusNotifications | undefined> | undefined {
  if (sender === '' || !principal.account.mailReports) return undefined
  const all = new Map(recipients.map((address) => [address, {}]))
  return core.messages.notificationsFor(principal, { to: sender, full: false, recipients: all })
}

function nameOfField(field: SubmissionField, envelope?: number, key?: string): string {
  return field === 'recipient' ? 'to' : nameOf(field, envelope, key)
}
