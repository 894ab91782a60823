import {
  DELIVERY_STATES,
  type DeliveryWhy,
  MAX_EXPLAINED,
  ServiceError,
  TLS_ORIGINS,
  WAITING_REASONS,
  type WaitingReason,
} from '@postrider/core'
import Type, { type Static } from 'typebox'
import { type Call, type Operation, operation } from '../operation.ts'
import { exactNumber, given } from '../shapes.ts'
import { CLOSED } from '../unknown-parameters.ts'

/** An empty parameter counts as omitted. */
const Text = (description: string) =>
  Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Null()], { description }))

const Question = Type.Object(
  {
    messageid: Text('the id returned by sendEmail; required unless trid is given'),
    trid: Text('transaction number: only this delivery'),
  },
  CLOSED,
)

/** A time, or null. */
export const Time = (description: string) => Type.Union([Type.String(), Type.Null()], { description })
export const TextOrNull = Type.Union([Type.String(), Type.Null()])

export const Attempt = Type.Object({
  attempt: Type.Integer({ description: 'from 1' }),
  time: Type.String({ description: 'ISO 8601, UTC: its beginning' }),
  outcome: Type.Enum(['delivered', 'deferred', 'bounced', 'abandoned']),
  indeterminate: Type.Boolean({
    description: 'the connection was lost at a moment at which the server may have accepted the message',
  }),
  stage: Type.Union([Type.String(), Type.Null()], { description: 'the step of the SMTP session that was reached' }),
  host: TextOrNull,
  place: Type.Union([Type.String(), Type.Null()], {
    description: 'the provider or site, with the source address if there are several: google@mta-1',
  }),
  code: Type.Union([Type.Integer(), Type.Null()]),
  enhanced: TextOrNull,
  reply: TextOrNull,
  tlsPolicy: Type.Union([Type.String(), Type.Null()], { description: 'the TLS level that was demanded, if any' }),
  tlsOrigin: Type.Union([Type.Enum([...TLS_ORIGINS]), Type.Null()], {
    description: 'where that demand comes from: the message, a rule, the provider table, MTA-STS or DANE',
  }),
})

/** The fields that say what a delivery waits for. */
export const Waiting = {
  waitingFor: Type.Union([Type.Enum(namesOf(WAITING_REASONS)), Type.Null()], { description: 'null if it is finished' }),
  text: Type.String({ description: 'the same as a sentence, with times in UTC' }),
  since: Time('ISO 8601, UTC: since when it has waited for this, or when it was finished'),
  nextAt: Time('ISO 8601, UTC: the next attempt; null if none is planned for a certain time'),
  expected: Type.Union(
    [
      Type.Object({
        p50: Time('ISO 8601, UTC: as likely before as after; null if there is no estimate'),
        p90: Time('ISO 8601, UTC: probably before; null if unknown'),
        basis: Type.String({ description: 'what the times are derived from, or why there is no estimate' }),
      }),
      Type.Null(),
    ],
    { description: 'when it is expected to be tried' },
  ),
  ahead: Type.Union([Type.Integer(), Type.Null()], {
    description:
      'number of deliveries ahead of it, counted up to 10,000, or 1,000 if the message waits at more than ten destinations; null ' +
      'if it does not wait for its turn',
  }),
  deadline: Time('ISO 8601, UTC: until when it is tried; null if it is finished'),
  place: Type.Union([Type.String(), Type.Null()], { description: 'the provider or site whose capacity it waits for' }),
} as const

const Row = Type.Object({
  trid: Type.Integer({ description: 'transaction number of this recipient, a multiple of 4' }),
  messageId: Type.String(),
  recipient: Type.String(),
  recipientNo: Type.Integer({ description: 'position among the recipients of the message, from 0' }),
  state: Type.Enum(namesOf(DELIVERY_STATES)),
  ...Waiting,
  attempts: Type.Array(Attempt, { description: 'the latest ten, the latest last' }),
})

export function namesOf<Name extends string>(table: Readonly<Record<Name, string>>): Name[] {
  return Object.keys(table) as Name[]
}

const example: Static<typeof Row> = {
  trid: 17676078720000004,
  messageId: '019b8d6a3c80700080000000000000a1',
  recipient: 'lena@harbor.example',
  recipientNo: 0,
  state: 'deferred',
  waitingFor: 'retry' satisfies WaitingReason,
  text: 'mx.harbor.example rejected it temporarily (451 4.7.1 greylisted). The next attempt is planned for 10:16 UTC.',
  since: '2026-01-05T10:11:14.000Z',
  nextAt: '2026-01-05T10:16:14.000Z',
  expected: { p50: '2026-01-05T10:16:14.000Z', p90: null, basis: 'next attempt' },
  ahead: null,
  deadline: '2026-01-08T10:11:12.000Z',
  place: null,
  attempts: [
    {
      attempt: 1,
      time: '2026-01-05T10:11:13.000Z',
      outcome: 'deferred',
      indeterminate: false,
      stage: 'rcpt',
      host: 'mx.harbor.example',
      place: 'mx.harbor.example',
      code: 451,
      enhanced: '4.7.1',
      reply: 'greylisted',
      tlsPolicy: null,
      tlsOrigin: null,
    },
  ],
}

/** The reasons for which deliveries wait (contract section 12.3). */
export const DELIVERY: readonly Operation[] = [
  operation({
    name: 'explainDelivery',
    summary: `Show what the deliveries of a message wait for and when they are expected; the first ${MAX_EXPLAINED}`,
    cli: 'message why',
    group: 'Events',
    scope: 'events',
    routes: [['/delivery', 'GET', 'POST']],
    input: Question,
    answer: Type.Array(Row),
    errors: ['messageUnknown', 'deliveryUnknown'],
    example: { input: { messageid: example.messageId }, data: [example] },
    act: explain,
  }),
]

async function explain(input: Static<typeof Question>, { core, principal, request }: Call) {
  if (Object.keys(input).length === 0 && request.method !== 'GET') throw new ServiceError('bodyBlank')
  const messageId = given(input.messageid)
  const transactionNumber = given(exactText(input.trid))
  if (messageId === undefined && transactionNumber === undefined) {
    throw new ServiceError('parameterMissing', { values: { parameter: 'messageid' } })
  }
  const found = await core.messages.why({ accountId: principal.account.id, messageId, transactionNumber })
  if (!found) throw new ServiceError(transactionNumber === undefined ? 'messageUnknown' : 'deliveryUnknown')
  return { data: found.deliveries.map((one) => shown(found.id, one)), totalRecords: found.total }
}

/** From 2^54 on, the shortest text of a transaction number is not its exact value (see exactNumber). */
function exactText(value: string | number | null | undefined): string | null | undefined {
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value).toString() : value?.toString()
}

function shown(messageId: string, why: DeliveryWhy): Static<typeof Row> {
  const { transactionNumber, recipient, recipientNo, state } = why
  return {
    trid: exactNumber(transactionNumber),
    messageId,
    recipient,
    recipientNo,
    state,
    ...shownWaiting(why),
    attempts: why.attempts.map(shownAttempt),
  }
}

/** The {@link Waiting} fields of an answer. */
export function shownWaiting({ waitingFor, text, ahead, place, expected, ...why }: DeliveryWhy) {
  return {
    waitingFor,
    text,
    since: iso(why.since),
    nextAt: iso(why.nextAt),
    expected: expected && { p50: iso(expected.p50), p90: iso(expected.p90), basis: expected.basis },
    ahead,
    deadline: iso(why.deadline),
    place,
  }
}

function shownAttempt({ startedAt, milliseconds: _, ...one }: DeliveryWhy['attempts'][number]): Static<typeof Attempt> {
  const { attempt, ...rest } = one
  return { attempt, time: startedAt.toISOString(), ...rest }
}

export function iso(time: Date | null): string | null {
  return time?.toISOString() ?? null
}
