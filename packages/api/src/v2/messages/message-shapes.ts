import {
  DELIVERY_STATES,
  type DeliveryDetails,
  type ListedDelivery,
  type MessageDetails,
  NOTIFY_WORDS,
} from '@postrider/core'
import Type, { type Static } from 'typebox'
import { exactNumber } from '../shapes.ts'
import { Attempt, iso, namesOf, shownWaiting, TextOrNull, Time, Waiting } from './delivery.ts'

/** How messages and their deliveries are shown. */

export const MessageId = Type.String({ description: 'the id returned by sendEmail: 32 hexadecimal digits' })

const Delivered = {
  trid: Type.Integer({ description: 'transaction number of this recipient, a multiple of 4' }),
  recipientNo: Type.Integer({ description: 'position among the recipients of the message, from 0' }),
  recipient: Type.String(),
  kind: Type.Enum(['to', 'cc', 'bcc']),
  xapiheader: Type.String(),
  state: Type.Enum(namesOf(DELIVERY_STATES)),
  reason: Type.Union([Type.String(), Type.Null()], { description: 'why it was dropped or set aside' }),
}

const Sent = {
  messageId: MessageId,
  door: Type.Enum(['v2', 'v3', 'smtp'], { description: 'how it was submitted' }),
  fromaddress: Type.String(),
  subject: Type.String({ description: 'as submitted, with its merge tags' }),
  tags: Type.Array(Type.String()),
  size: Type.Integer({ description: 'bytes as submitted' }),
  hasAttachment: Type.Boolean(),
  keepContent: Type.Boolean({ description: 'false: the content is removed after the last outcome' }),
  acceptedAt: Type.String({ description: 'ISO 8601, UTC' }),
}

/** `state` stays `delivered`, as a server accepted it. */
const BouncedLate = {
  bouncedAt: Time(
    'ISO 8601, UTC: when a report came that it was not delivered after all, although a server had accepted it; null if none did',
  ),
  bounce: Type.Union([Type.String(), Type.Null()], { description: 'the reply in that report' }),
}

export const ListedRow = Type.Object({
  ...Sent,
  ...Delivered,
  ...BouncedLate,
  attempts: Type.Integer(),
  nextAt: Time('ISO 8601, UTC: the next attempt, or the end of a pause; null if none is planned for a certain time'),
  finishedAt: Time('ISO 8601, UTC; null if it is not final'),
  reply: Type.Union([Type.String(), Type.Null()], { description: "the server's reply to the latest attempt" }),
})

const Step = Type.Object(
  {
    step: Type.String({ description: 'of the SMTP session: connect, ehlo, mail, rcpt, data, dot and others' }),
    ms: Type.Number({ description: 'how long it took' }),
    code: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    enhanced: Type.Optional(TextOrNull),
    text: Type.Optional(TextOrNull),
    together: Type.Optional(
      Type.Boolean({ description: 'sent with the step before it, so their durations overlap (RFC 2920)' }),
    ),
  },
  { description: 'one step of the conversation, with the reply' },
)

const DetailedAttempt = Type.Object({
  ...Attempt.properties,
  ms: Type.Integer({ description: 'duration of the whole attempt in milliseconds' }),
  address: Type.Union([Type.String(), Type.Null()], { description: 'the IP address of the host' }),
  tls: TextOrNull,
  tlsVerified: Type.Union([Type.Boolean(), Type.Null()]),
  conversation: Type.Union([Type.Array(Step), Type.Null()], { description: 'null if it is not stored' }),
})

const DetailedDelivery = Type.Object({
  ...Delivered,
  ...Waiting,
  ...BouncedLate,
  notify: Type.Union([Type.Array(Type.Enum([...NOTIFY_WORDS])), Type.Null()], {
    description:
      'what is reported to the sender by mail: NOTIFY of RFC 3461, or the account setting mailReports; null without notifications',
  }),
  metadata: Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()], {
    description: 'the own data of the message: names and values',
  }),
  originalRecipient: Type.Union([Type.String(), Type.Null()], { description: 'ORCPT, if it is another address' }),
  finishedAt: Time('ISO 8601, UTC; null if it is not final'),
  attempts: Type.Array(DetailedAttempt, { description: 'the latest ten, the latest last' }),
})

export const DetailedMessage = Type.Object({
  ...Sent,
  scheduledAt: Time('ISO 8601, UTC: the time that the sender requested'),
  keyId: Type.Union([Type.Integer(), Type.Null()], { description: 'the API key that it was submitted with' }),
  clientAddress: Type.Union([Type.String(), Type.Null()], { description: 'the IP address that it was submitted from' }),
  bodyStored: Type.Boolean({
    description: 'false after the retention period of bodies, or if the content is not kept',
  }),
  corrected: Type.Union([Type.String(), Type.Null()], {
    description: 'the corrections of a message received by SMTP, in words',
  }),
  notifications: Type.Union(
    [
      Type.Object({
        to: Type.String({ description: 'MAIL FROM' }),
        full: Type.Boolean({ description: 'RET=FULL' }),
        envelopeId: Type.Union([Type.String(), Type.Null()], { description: 'ENVID' }),
      }),
      Type.Null(),
    ],
    { description: 'who is notified of its deliveries by mail (RFC 3461); null if no one is' },
  ),
  resentFrom: Type.Union([Type.String(), Type.Null()], { description: 'the message that it is sent again from' }),
  resentAs: Type.Array(Type.String(), { description: 'the messages by which it was sent again, the first 20' }),
  recipients: Type.Integer({ description: 'the number of its recipients' }),
  deliveries: Type.Array(DetailedDelivery, { description: 'at most 100, by recipientNo' }),
  nextRecipient: Type.Union([Type.Integer(), Type.Null()], {
    description: 'value of `from_recipient` for the following deliveries; null if there are none',
  }),
  events: Type.Array(
    Type.Object({
      id: Type.String({ description: 'the same as in the event feed' }),
      type: Type.String({ description: "the service's own name of the event" }),
      time: Type.String({ description: 'ISO 8601, UTC' }),
      recipientNo: Type.Union([Type.Integer(), Type.Null()]),
      detail: Type.Union([Type.Record(Type.String(), Type.Any()), Type.Null()]),
    }),
    { description: 'of these deliveries, at most 1,000, in order' },
  ),
  moreEvents: Type.Boolean({ description: 'whether there are more events than are shown' }),
  suppressions: Type.Array(
    Type.Object({
      value: Type.String(),
      reason: Type.String(),
      group: Type.Integer({ description: '0 if it applies to all mail' }),
      recipientNo: Type.Union([Type.Integer(), Type.Null()]),
      since: Type.String({ description: 'ISO 8601, UTC' }),
    }),
    { description: 'those that these deliveries caused' },
  ),
  returns: Type.Array(
    Type.Object({
      kind: Type.String({ description: 'bounce, complaint, auto-reply and others' }),
      recipientNo: Type.Union([Type.Integer(), Type.Null()]),
      receivedAt: Type.String({ description: 'ISO 8601, UTC' }),
      reporter: Type.String({ description: "the domain of the report's sender, not verified" }),
      effect: Type.String(),
    }),
    { description: 'the latest 100 reports that came back for the message' },
  ),
})

/** Shared by the two kinds of rows. */
function shownDelivery(
  one: Pick<DeliveryDetails, 'recipientNo' | 'recipient' | 'reference' | 'reason' | 'bouncedAt' | 'bounce'>,
) {
  const { recipientNo, recipient, reference, reason, bouncedAt, bounce } = one
  return { recipientNo, recipient, xapiheader: reference ?? '', reason, bouncedAt: iso(bouncedAt), bounce }
}

export function listedRow(one: ListedDelivery): Static<typeof ListedRow> {
  const { messageId, door, from, subject, tags, size, hasAttachment, kind, state, attempts, reply } = one
  return {
    messageId,
    door,
    fromaddress: from,
    subject,
    tags: [...tags],
    size,
    hasAttachment,
    keepContent: one.keepsContent,
    acceptedAt: one.acceptedAt.toISOString(),
    trid: exactNumber(one.transactionNumber),
    ...shownDelivery(one),
    kind,
    state,
    attempts,
    reply,
    nextAt: iso(one.nextAt),
    finishedAt: iso(one.finishedAt),
  }
}

type Detailed = Static<typeof DetailedMessage>

/** A page of a message. */
export function detailedMessage(details: MessageDetails, returns: Detailed['returns'], isLastPage: boolean): Detailed {
  const { id, from, subject, tags, size, recipients, keyId, clientAddress, hasAttachment, isBodyStored } = details
  const { corrected, notifications, resentFrom, resentAs } = details
  const last = details.deliveries.at(-1)
  return {
    messageId: id,
    door: details.door as Detailed['door'],
    fromaddress: from,
    subject,
    tags: [...tags],
    size,
    hasAttachment,
    keepContent: details.keepsContent,
    acceptedAt: details.acceptedAt.toISOString(),
    scheduledAt: iso(details.scheduledAt),
    keyId,
    clientAddress,
    bodyStored: isBodyStored,
    recipients,
    corrected,
    notifications: notifications && { full: false, envelopeId: null, ...notifications },
    resentFrom,
    resentAs: [...resentAs],
    deliveries: details.deliveries.map(detailedDelivery),
    nextRecipient: isLastPage || !last ? null : last.recipientNo + 1,
    events: details.events.map(({ id, type, occurredAt, recipientNo, detail }) => ({
      id,
      type,
      time: occurredAt.toISOString(),
      recipientNo,
      detail: detail as Detailed['events'][number]['detail'],
    })),
    moreEvents: details.hasMoreEvents,
    suppressions: details.suppressions.map(({ value, reason, group, since, cause }) => ({
      value,
      reason,
      group,
      recipientNo: cause?.recipientNo ?? null,
      since: since.toISOString(),
    })),
    returns,
  }
}

function detailedDelivery(one: DeliveryDetails): Detailed['deliveries'][number] {
  const { transactionNumber, kind, state, finishedAt, notify, metadata, originalRecipient, why } = one
  if (!why) throw new Error('the delivery is not explained')
  return {
    trid: exactNumber(transactionNumber),
    ...shownDelivery(one),
    kind: kind as 'to',
    state: state as 'queued',
    ...shownWaiting(why),
    notify: notify && [...notify],
    metadata,
    originalRecipient,
    finishedAt: iso(finishedAt),
    attempts: one.attempts.map(detailedAttempt),
  }
}

type ShownAttempt = Detailed['deliveries'][number]['attempts'][number]

function detailedAttempt(one: DeliveryDetails['attempts'][number]): ShownAttempt {
  const { attempt, startedAt, outcome, indeterminate, stage, host, place, code, enhanced, reply } = one
  const { milliseconds, address, tls, tlsPolicy, tlsOrigin, tlsVerified, conversation } = one
  return {
    attempt,
    time: startedAt.toISOString(),
    outcome: outcome as ShownAttempt['outcome'],
    indeterminate,
    stage,
    host,
    place,
    code,
    enhanced,
    reply,
    ms: milliseconds,
    address,
    tls,
    tlsPolicy,
    tlsOrigin,
    tlsVerified,
    conversation: conversation as ShownAttempt['conversation'],
  }
}
