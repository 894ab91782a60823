import type { ForgetRequest, KeptDelivery, PersonPage } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { timeText } from '../time-text.ts'
import { commaList } from './comma-list.ts'
import { type Operation, operation } from './operation.ts'
import { Count, exactNumber, pageOf } from './shapes.ts'

const RequestId = Type.String({ description: '`gd_` and 32 hex digits' })
const Email = Type.Union([Type.String(), Type.Array(Type.String())], {
  description: 'one address or several, comma-separated or as a list; at most 1,000',
})
const State = Type.Union([Type.Literal('queued'), Type.Literal('running'), Type.Literal('done')])

const Requested = Type.Object({ requestId: RequestId, status: State, emails: Type.Integer() })

const Progress = Type.Object({
  ...Requested.properties,
  requestedTime: Type.String(),
  completedTime: Type.Optional(Type.String()),
  waiting: Type.Integer({ description: 'messages shared with others whose delivery has not come to an end' }),
  receipt: Type.Object(
    {
      cancelled: Type.Integer({ description: 'waiting deliveries that were cancelled' }),
      deliveries: Type.Integer(),
      attempts: Type.Integer(),
      events: Type.Integer(),
      messages: Type.Integer(),
      bodies: Type.Integer(),
      suppressions: Type.Integer({ description: 'addresses that stay suppressed as a keyed hash' }),
    },
    { description: 'rows that were touched' },
  ),
})

const Told = Type.Record(Type.String(), Type.Unknown())
const Log = Type.Object({
  trid: Type.Integer(),
  messageId: Type.String(),
  rcptEmail: Type.String(),
  rcptType: Type.String({ description: 'to, cc or bcc' }),
  fromaddress: Type.String(),
  requestedTime: Type.String(),
  scheduledTime: Type.Optional(Type.String()),
  deliveryTime: Type.Optional(Type.String()),
  modifiedTime: Type.Optional(Type.String()),
  status: Type.String({ description: 'scheduled, queued, sending, deferred, delivered, bounced, dropped or expired' }),
  reason: Type.Optional(Type.String()),
  size: Type.Integer(),
  remarks: Type.String({ description: 'the last reply' }),
  subject: Type.String(),
  xapiheader: Type.String(),
  tags: Type.String(),
  clientIp: Type.Optional(Type.String()),
  personal: Type.Optional(
    Type.Unknown({ description: 'header lists, attributes and header fields of this recipient' }),
  ),
  attempts: Type.Array(Told),
  events: Type.Array(Told),
})

const Person = Type.Object({
  email: Type.String(),
  logs: Type.Array(Log),
  suppression: Type.Array(
    Type.Object({
      email: Type.String(),
      type: Type.Union([Type.Literal('email'), Type.Literal('group')]),
      group: Type.Optional(Type.Integer()),
      reason: Type.String(),
      addedTime: Type.String(),
      hashed: Type.Boolean({ description: 'kept as a keyed hash, since the person was forgotten' }),
    }),
  ),
  webhookEvents: Type.Integer(),
  next: Type.Optional(Type.String({ description: 'there is more: to be passed for the next page' })),
})

const ID = 'gd_019b8d6a4c7e7b1fa1c2d3e4f5061728'
const TIME = '2026-01-05 10:11:12'

/** People who are to be forgotten, or told what is kept of them. */
export const PRIVACY: readonly Operation[] = [
  operation({
    name: 'forgetPerson',
    creates: true,
    summary: 'Erases people from all that was sent to them; what they opted out of holds',
    group: 'GDPR',
    scope: 'privacy',
    routes: [
      ['/gdpr/forget', 'POST', 'DELETE'],
      ['/gdpr', 'POST', 'DELETE'],
    ],
    input: Type.Object({ email: Email }),
    answer: Requested,
    errors: ['suppressionEmailInvalid'],
    example: { input: { email: 'lena@harbor.example' }, data: { requestId: ID, status: 'queued', emails: 1 } },
    act: async ({ email }, { core, principal, by }) => {
      // A quoted local part may hold a comma: a list says where one address ends.
      const addresses = typeof email === 'string' ? commaList('email', email) : email
      const { id, state, emails } = await core.privacy.forget(principal.account.id, addresses, by)
      return { data: { requestId: id, status: state, emails } }
    },
  }),
  operation({
    name: 'showForgetRequest',
    summary: 'How far a request to forget people is, and what it has touched',
    group: 'GDPR',
    scope: 'privacy',
    routes: [
      ['/gdpr/forget/:requestId', 'GET', 'POST'],
      ['/gdpr/status', 'POST', 'GET'],
    ],
    input: Type.Object({ requestId: RequestId }),
    answer: Progress,
    errors: ['forgetRequestUnknown'],
    example: {
      input: { requestId: ID },
      data: {
        ...{ requestId: ID, status: 'done', emails: 1, requestedTime: TIME, completedTime: '2026-01-05 10:11:14' },
        waiting: 0,
        receipt: { cancelled: 0, deliveries: 3, attempts: 3, events: 6, messages: 3, bodies: 3, suppressions: 0 },
      },
    },
    act: async ({ requestId }, { core, principal }) => ({
      data: progressOf(await core.privacy.request(principal.account.id, requestId)),
    }),
  }),
  operation({
    name: 'exportPerson',
    summary: 'All that is kept of one person, a page at a time',
    group: 'GDPR',
    scope: 'privacy',
    routes: [['/gdpr/export', 'POST']],
    input: Type.Object({
      email: Type.String(),
      limit: Count('deliveries on a page, at most 100; 50 unless told'),
      next: Type.Optional(Type.String({ description: '`next` of the page before' })),
    }),
    answer: Person,
    errors: ['suppressionEmailInvalid'],
    example: {
      input: { email: 'lena@harbor.example' },
      data: {
        email: 'lena@harbor.example',
        logs: [],
        suppression: [
          { email: 'lena@harbor.example', type: 'email', reason: 'unsubscribe', addedTime: TIME, hashed: false },
        ],
        webhookEvents: 0,
      },
    },
    act: async ({ email, limit: most, next }, { core, principal, by }) => {
      const { limit } = pageOf({ limit: most }, { byDefault: 50, most: 100 })
      return { data: personOf(await core.privacy.export(principal.account.id, { email, limit, next }, by)) }
    },
  }),
]

function progressOf(request: ForgetRequest): Static<typeof Progress> {
  const { id, state, emails, requestedAt, completedAt, waiting, receipt } = request
  return {
    ...{ requestId: id, status: state, emails, requestedTime: timeText(requestedAt) },
    ...(completedAt ? { completedTime: timeText(completedAt) } : {}),
    waiting,
    receipt,
  }
}

function personOf({ email, deliveries, suppressions, next }: PersonPage): Static<typeof Person> {
  return {
    email,
    logs: deliveries.map(logOf),
    suppression: suppressions.map(({ group, reason, since, hashed }) => ({
      ...(group > 0 ? { email, type: 'group' as const, group } : { email, type: 'email' as const }),
      ...{ reason, addedTime: timeText(since), hashed },
    })),
    webhookEvents: 0,
    ...(next ? { next } : {}),
  }
}

function logOf(delivery: KeptDelivery): Static<typeof Log> {
  const { acceptedAt, scheduledAt, finishedAt, state, reason, clientAddress, personal, attempts, events } = delivery
  const last = events.at(-1)?.time
  return {
    trid: exactNumber(delivery.transactionNumber),
    messageId: delivery.messageId,
    rcptEmail: delivery.recipient,
    rcptType: delivery.kind,
    fromaddress: delivery.from,
    requestedTime: timeText(acceptedAt),
    ...(scheduledAt ? { scheduledTime: timeText(scheduledAt) } : {}),
    ...(finishedAt && state === 'delivered' ? { deliveryTime: timeText(finishedAt) } : {}),
    ...(last instanceof Date ? { modifiedTime: timeText(last) } : {}),
    status: state,
    ...(reason ? { reason } : {}),
    size: delivery.size,
    remarks: String(attempts.at(-1)?.reply ?? ''),
    subject: delivery.subject,
    xapiheader: delivery.reference ?? '',
    tags: delivery.tags.join(','),
    ...(clientAddress ? { clientIp: clientAddress } : {}),
    ...(personal ? { personal } : {}),
    attempts: [...attempts],
    events: [...events],
  }
}
