import { LOG_STATUSES, LOG_WORDS, type LogQuestion, type LogRow, ServiceError } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { commaList } from './comma-list.ts'
import { FEED } from './events-feed.ts'
import { type Call, type Operation, operation } from './operation.ts'
import { Count, exactNumber, oneOf, pageOf } from './shapes.ts'

/** With a cursor; without one core gives fewer. */
const MOST_ROWS = 5000

/** As clients send it: empty is absent, and a query has no numbers. */
const Text = (description: string) =>
  Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Null()], { description }))

const Question = Type.Object({
  startdate: Text("required: yyyy-mm-dd, the first day, in the account's time zone"),
  enddate: Text('yyyy-mm-dd, the last day; today unless told'),
  events: Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String()), Type.Null()], {
      description: `deliveries to which one of these happened, comma-separated: ${LOG_WORDS.join(', ')}`,
    }),
  ),
  sort: Text('asc (default) or desc, by the time of acceptance'),
  limit: Count('rows, 10 unless told; at most 1000, or 5000 with scrollid'),
  offset: Count('rows to pass over, at most 10000'),
  email: Text('the recipient'),
  fromaddress: Text('the sender'),
  fromemail: Text('another name of fromaddress'),
  subject: Text('the subject as it was handed in, exactly'),
  xapiheader: Text("the caller's own id, exactly"),
  messageid: Text('the id that sendEmail answered'),
  scrollid: Text('what the answer before had as scrollid, with the same other parameters'),
})

const Time = (description: string) =>
  Type.String({ description: `yyyy-mm-dd hh:mm:ss in the account's time zone: ${description}` })

const Row = Type.Object({
  trid: Type.Integer({ description: 'the transaction number, a multiple of 4; of this recipient alone' }),
  rcptEmail: Type.String(),
  fromaddress: Type.String(),
  requestedTime: Time('when it was accepted'),
  deliveryTime: Time('when a server took it; empty until then'),
  modifiedTime: Time('when something was last heard of it'),
  status: Type.Enum([...LOG_STATUSES], { description: 'the furthest it came' }),
  size: Type.Integer({ description: 'octets of the message as handed in' }),
  remarks: Type.String({ description: 'what the server said, or why nothing was sent' }),
  subject: Type.String(),
  xapiheader: Type.String(),
  tags: Type.String({ description: 'comma-separated' }),
  opens: Type.Array(Type.Object({ ip: Type.String(), time: Type.String() }), {
    description: 'by people; the latest 20',
  }),
  clicks: Type.Array(Type.Object({ ip: Type.String(), link: Type.String(), time: Type.String() }), {
    description: 'by people; the latest 20',
  }),
})

const ENVELOPE = {
  bare: true,
  beside: Type.Object({
    status: Type.Literal('success'),
    totalRecords: Type.Integer({ description: 'all matches' }),
    scrollid: Type.Optional(Type.String({ description: 'there are more: to be given for the next page' })),
  }),
  example: { status: 'success', totalRecords: 1 },
} as const

const example: Static<typeof Row> = {
  ...{ trid: 17676078720000004, rcptEmail: 'lena@harbor.example', fromaddress: 'desk@ship.example' },
  ...{ requestedTime: '2026-01-05 10:11:12', deliveryTime: '2026-01-05 10:11:14' },
  ...{ modifiedTime: '2026-01-05 10:21:00', status: 'click', size: 1834, remarks: '250 2.0.0 OK', subject: 'Berth 4' },
  ...{ xapiheader: 'order-9001', tags: 'berth,confirm', opens: [{ ip: '192.0.2.9', time: '2026-01-05 10:20:00' }] },
  clicks: [{ ip: '192.0.2.9', link: 'https://ship.example/b/4', time: '2026-01-05 10:21:00' }],
}

/** The event log and the gap-free feed (contract section 12). */
export const EVENTS: readonly Operation[] = [
  operation({
    name: 'listEvents',
    summary: 'The event log: every recipient of the mail of some days, with what became of it',
    group: 'Events',
    scope: 'events',
    routes: [
      ['/logs', 'GET', 'POST'],
      ['/events/logs', 'GET', 'POST'],
      ['/events', 'GET', 'POST'],
    ],
    input: Question,
    answer: Type.Array(Row),
    envelope: ENVELOPE,
    errors: ['dateInvalid', 'datesReversed'],
    example: { input: { startdate: '2026-01-01', events: 'open,click', sort: 'desc', limit: 1 }, data: [example] },
    async act(input, call) {
      const { rows, total, scroll } = await call.core.eventLog.page(questionOf(input, call), shown)
      const beside = { status: 'success', totalRecords: total, ...(scroll === undefined ? {} : { scrollid: scroll }) }
      return { data: [...rows], beside }
    },
  }),
  ...FEED,
]

/** Empty parameters are absent, as the official command line sends all it knows (contract 12.1). */
function questionOf(input: Static<typeof Question>, { request, principal }: Call): LogQuestion {
  if (Object.keys(input).length === 0 && request.method !== 'GET') throw new ServiceError('bodyBlank')
  const said = (name: keyof Static<typeof Question>): string | undefined => {
    const value = input[name]
    return value === undefined || value === null || value === '' ? undefined : String(value)
  }
  const first = said('startdate')
  if (first === undefined) throw new ServiceError('parameterMissing', { values: { parameter: 'startdate' } })
  const sort = oneOf(input.sort, 'sort', ['asc', 'desc'] as const) ?? 'asc'
  const { events } = input
  return {
    ...{ accountId: principal.account.id, first, last: said('enddate'), sort },
    events: typeof events === 'string' ? commaList('events', events) : (events ?? []),
    ...pageOf(input, { byDefault: 10, most: MOST_ROWS }),
    ...{ email: said('email'), from: said('fromaddress') ?? said('fromemail'), subject: said('subject') },
    ...{ reference: said('xapiheader'), messageId: said('messageid'), scroll: said('scrollid') },
  }
}

function shown(row: LogRow): Static<typeof Row> {
  return {
    trid: exactNumber(row.transactionNumber),
    rcptEmail: row.recipient,
    fromaddress: row.from,
    requestedTime: row.acceptedAt,
    deliveryTime: row.deliveredAt,
    modifiedTime: row.changedAt,
    status: row.status,
    size: row.size,
    remarks: row.remarks,
    subject: row.subject,
    xapiheader: row.reference,
    tags: row.tags.join(','),
    opens: [...row.opens],
    clicks: [...row.clicks],
  }
}
