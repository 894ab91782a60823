import type { ForgetRequest, KeptDelivery, PersonPage } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { timeText } from '../../http/time-text.ts'
import { commaList } from '../comma-list.ts'
import { type Operation, operation } from '../operation.ts'
import { Count, exactNumber, Offset, pageOf } from '../shapes.ts'
import { Cause, causeOf } from './suppressions.ts'

const RequestId = Type.String({ description: '`gd_` and 32 hex digits' })
const Email = Type.Union([Type.String(), Type.Array(Type.String())], {
  description: 'up to 1,000 addresses, as a list or comma-separated',
})
const State = Type.Union([Type.Literal('queued'), Type.Literal('running'), Type.Literal('done')])

const Requested = Type.Object({ requestId: RequestId, status: State, emails: Type.Integer() })

const Progress = Type.Object({
  ...Requested.properties,
  requestedTime: Type.String(),
  completedTime: Type.Optional(Type.String()),
  waiting: Type.Integer({ description: 'messages shared with other recipients whose deliveries are not finished' }),
  receipt: Type.Object(
    {
      cancelled: Type.Integer({ description: 'queued deliveries that were cancelled' }),
      deliveries: Type.Integer(),
      attempts: Type.Integer(),
      events: Type.Integer(),
      messages: Type.Integer(),
      bodies: Type.Integer(),
      suppressions: Type.Integer({ description: 'addresses that remain suppressed as a keyed hash' }),
    },
    { description: 'numbers of rows changed' },
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
    Type.Unknown({ description: 'address lists, attributes and header fields of this recipient' }),
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
      hashed: Type.Boolean({ description: 'stored as a keyed hash, since the recipient was erased' }),
      cause: Type.Optional(Cause),
    }),
  ),
  webhookEvents: Type.Integer(),
  next: Type.Optional(Type.String({ description: 'cursor of the next page; absent on the last page' })),
})

const ID = 'gd_019b8d6a4c7e7b1fa1c2d3e4f5061728'
const TIME = '2026-01-05 10:11:12'

const DONE: Static<typeof Progress> = {
  requestId: ID,
  status: 'done',
  emails: 1,
  requestedTime: TIME,
  completedTime: '2026-01-05 10:11:14',
  waiting: 0,
  receipt: { cancelled: 0, deliveries: 3, attempts: 3, events: 6, messages: 3, bodies: 3, suppressions: 0 },
}

/** Erasure of recipients, and export of the data stored about them. */
export const PRIVACY: readonly Operation[] = [
  operation({
    name: 'forgetPerson',
    creates: true,
    summary: 'Erase recipients from stored data; their opt-outs stay in effect',
    cli: 'person forget',
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
      // A quoted local part may contain a comma; a list separates the addresses unambiguously.
      const addresses = typeof email === 'string' ? commaList('email', email) : email
      const { id, state, emails } = await core.privacy.forget(principal.account.id, addresses, by)
      return { data: { requestId: id, status: state, emails } }
    },
  }),
  operation({
    name: 'showForgetRequest',
    summary: 'Show the progress of an erasure request and the rows changed',
    cli: 'person status',
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
      data: DONE,
    },
    act: async ({ requestId }, { core, principal }) => ({
      data: progressOf(await core.privacy.request(principal.account.id, requestId)),
    }),
  }),
  operation({
    name: 'listForgetRequests',
    summary: 'List the erasure requests, newest first, with their progress',
    cli: 'person list',
    group: 'GDPR',
    scope: 'privacy',
    routes: [
      ['/gdpr/forget', 'GET'],
      ['/gdpr/requests', 'GET', 'POST'],
    ],
    input: Type.Object({ limit: Count('requests per page, at most 100; default 50'), offset: Offset }),
    answer: Type.Array(Progress),
    errors: [],
    example: { input: { limit: 50 }, data: [DONE] },
    act: async (input, { core, principal }) => {
      const page = pageOf(input, { byDefault: 50, most: 100 })
      const { requests, total } = await core.privacy.requests(principal.account.id, page)
      return { data: requests.map(progressOf), totalRecords: total }
    },
  }),
  operation({
    name: 'exportPerson',
    summary: 'Export the data stored about one recipient, page by page',
    cli: 'person export',
    group: 'GDPR',
    scope: 'privacy',
    routes: [['/gdpr/export', 'POST']],
    input: Type.Object({
      email: Type.String(),
      limit: Count('deliveries per page, at most 100; default 50'),
      next: Type.Optional(Type.String({ description: '`next` of the previous page' })),
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
    requestId: id,
    status: state,
    emails,
    requestedTime: timeText(requestedAt),
    ...(completedAt ? { completedTime: timeText(completedAt) } : {}),
    waiting,
    receipt,
  }
}

function personOf({ email, deliveries, suppressions, next }: PersonPage): Static<typeof Person> {
  return {
    email,
    logs: deliveries.map(logOf),
    suppression: suppressions.map(({ group, reason, since, hashed, cause }) => ({
      ...(group > 0 ? { email, type: 'group' as const, group } : { email, type: 'email' as const }),
      reason,
      addedTime: timeText(since),
      hashed,
      ...causeOf(cause),
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
