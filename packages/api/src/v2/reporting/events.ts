import { defined, LOG_STATUSES, LOG_WORDS, type LogQuestion, type LogRow, ServiceError } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { commaList } from '../comma-list.ts'
import { type Call, type Operation, operation } from '../operation.ts'
import { Count, exactNumber, oneOf, pageOf } from '../shapes.ts'
import { FEED } from './events-feed.ts'

/** With a cursor; without one, core returns fewer. */
const MAX_ROWS = 5000

/** An empty parameter counts as omitted, and a query contains no numbers. */
const Text = (description: string) =>
  Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Null()], { description }))

const Question = Type.Object({
  startdate: Text("required; yyyy-mm-dd, first day in the account's time zone"),
  enddate: Text('yyyy-mm-dd, last day; default today'),
  events: Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String()), Type.Null()], {
      description: `deliveries with at least one of these events, comma-separated: ${LOG_WORDS.join(', ')}`,
    }),
  ),
  sort: Text('asc (default) or desc, by time of acceptance'),
  limit: Count('number of rows; default 10, at most 1000, or 5000 with scrollid'),
  offset: Count('number of rows to skip, at most 10000'),
  email: Text('the recipient'),
  fromaddress: Text('the sender'),
  fromemail: Text('alias of fromaddress'),
  subject: Text('the exact subject as submitted'),
  xapiheader: Text("the caller's exact X-APIHEADER"),
  messageid: Text('the id returned by sendEmail'),
  scrollid: Text('scrollid of the previous response, with otherwise identical parameters'),
})

const Time = (description: string) =>
  Type.String({ description: `yyyy-mm-dd hh:mm:ss in the account's time zone: ${description}` })

const Row = Type.Object({
  trid: Type.Integer({ description: 'transaction number of this recipient, a multiple of 4' }),
  rcptEmail: Type.String(),
  fromaddress: Type.String(),
  requestedTime: Time('time of acceptance'),
  deliveryTime: Time('time of delivery; empty before'),
  modifiedTime: Time('time of the latest event'),
  status: Type.Enum([...LOG_STATUSES], { description: 'the most advanced status' }),
  size: Type.Integer({ description: 'size of the message as submitted, in bytes' }),
  remarks: Type.String({ description: "the server's reply, or why the message was not sent" }),
  subject: Type.String(),
  xapiheader: Type.String(),
  tags: Type.String({ description: 'comma-separated' }),
  opens: Type.Array(Type.Object({ ip: Type.String(), time: Type.String() }), {
    description: 'human opens; the latest 20',
  }),
  clicks: Type.Array(Type.Object({ ip: Type.String(), link: Type.String(), time: Type.String() }), {
    description: 'human clicks; the latest 20',
  }),
})

const ENVELOPE = {
  bare: true,
  beside: Type.Object({
    status: Type.Literal('success'),
    totalRecords: Type.Integer({ description: 'number of matching rows' }),
    totalIsMinimum: Type.Optional(Type.Literal(true, { description: 'there may be more than totalRecords' })),
    searchedTo: Type.Optional(
      Type.String({
        description:
          'ISO 8601: where this call stopped searching before its page was full; scrollid goes on from there',
      }),
    ),
    scrollid: Type.Optional(Type.String({ description: 'cursor of the next page; absent on the last page' })),
  }),
  example: { status: 'success', totalRecords: 1 },
} as const

const example: Static<typeof Row> = {
  trid: 17676078720000004,
  rcptEmail: 'lena@harbor.example',
  fromaddress: 'desk@ship.example',
  requestedTime: '2026-01-05 10:11:12',
  deliveryTime: '2026-01-05 10:11:14',
  modifiedTime: '2026-01-05 10:21:00',
  status: 'click',
  size: 1834,
  remarks: '250 2.0.0 OK',
  subject: 'Berth 4',
  xapiheader: 'order-9001',
  tags: 'berth,confirm',
  opens: [{ ip: '192.0.2.9', time: '2026-01-05 10:20:00' }],
  clicks: [{ ip: '192.0.2.9', link: 'https://ship.example/b/4', time: '2026-01-05 10:21:00' }],
}

/** The event log and the event feed (contract section 12). */
export const EVENTS: readonly Operation[] = [
  operation({
    name: 'listEvents',
    summary: 'Search the event log: all recipients of a date range with their status',
    cli: 'message list',
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
      const { rows, ...page } = await call.core.eventLog.page(questionOf(input, call), shown, call.reads)
      const beside = {
        status: 'success',
        totalRecords: page.total,
        ...(page.isMinimum ? { totalIsMinimum: true } : {}),
        ...defined({ searchedTo: page.searchedTo?.toISOString(), scrollid: page.scroll }),
      }
      return { data: [...rows], beside }
    },
  }),
  ...FEED,
]

/** Empty parameters count as omitted, since the official command line sends all parameters it knows (contract 12.1). */
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
    accountId: principal.account.id,
    first,
    last: said('enddate'),
    sort,
    events: typeof events === 'string' ? commaList('events', events) : (events ?? []),
    ...pageOf(input, { byDefault: 10, most: MAX_ROWS }),
    email: said('email'),
    from: said('fromaddress') ?? said('fromemail'),
    subject: said('subject'),
    reference: said('xapiheader'),
    messageId: said('messageid'),
    scroll: said('scrollid'),
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
