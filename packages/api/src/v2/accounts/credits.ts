import { ServiceError } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { type Call, type Operation, operation } from '../operation.ts'
import { Count, pageOf } from '../shapes.ts'

/** A leap year. */
const MAX_DAYS = 366

const Day = Type.Optional(Type.Union([Type.String(), Type.Number()], { description: 'yyyy-mm-dd, UTC' }))

const Span = Type.Object({
  startdate: Day,
  enddate: Day,
  startDate: Day,
  endDate: Day,
  start_date: Day,
  end_date: Day,
  limit: Count('number of days to list, at most 366 (default)'),
  offset: Count('number of days to skip; default 0'),
})

const Usage = Type.Object({
  startdate: Type.String(),
  enddate: Type.String(),
  used: Type.Integer({ description: 'recipients of messages accepted on these days' }),
  available: Type.Union([Type.Integer(), Type.Null()], {
    description: 'credits left now; null if the account has no limit of its own',
  }),
  total: Type.Union([Type.Integer(), Type.Null()], { description: 'sum of used and available' }),
  usage: Type.Array(Type.Object({ date: Type.String(), used: Type.Integer() })),
})

/** Contract section 10. */
export const CREDITS: readonly Operation[] = [
  operation({
    name: 'getCredit',
    summary: 'Show the credits used per day and those left',
    cli: 'credits used',
    group: 'Credit',
    scope: 'credits',
    routes: [
      ['/credit', 'GET', 'POST'],
      ['/credits', 'GET', 'POST'],
      ['/getCredit', 'GET', 'POST'],
    ],
    input: Span,
    answer: Usage,
    envelope: {
      beside: Type.Object({ totalRecords: Type.Integer({ description: 'days in the date range' }) }),
      example: { totalRecords: 2 },
    },
    errors: ['dateInvalid', 'datesReversed'],
    example: {
      input: { startdate: '2026-01-01', enddate: '2026-01-02' },
      data: {
        startdate: '2026-01-01',
        enddate: '2026-01-02',
        used: 40,
        available: 28796,
        total: 28836,
        usage: [
          { date: '2026-01-01', used: 40 },
          { date: '2026-01-02', used: 0 },
        ],
      },
    },
    act: async (input, call) => {
      const { first, last } = spanOf(input, call)
      const span = { first, last, ...pageOf(input, { byDefault: MAX_DAYS, most: MAX_DAYS }) }
      const { used, available, days, total } = await call.core.credits.usage(call.principal.account.id, span)
      const sums = { startdate: first, enddate: last, used, available }
      const whole = available === null ? null : used + available
      return { data: { ...sums, total: whole, usage: [...days] }, totalRecords: total }
    },
  }),
]

/** Throws bodyBlank, parameterMissing. */
function spanOf(input: Static<typeof Span>, { request }: Call): { first: string; last: string } {
  // Each name can replace the other two, so the schema requires none; a schema with a required name would report this (contract
  // section 3).
  if (Object.keys(input).length === 0 && request.method !== 'GET') throw new ServiceError('bodyBlank')
  const first = input.startdate ?? input.startDate ?? input.start_date
  const last = input.enddate ?? input.endDate ?? input.end_date
  if (first === undefined) throw new ServiceError('parameterMissing', { values: { parameter: 'startdate' } })
  if (last === undefined) throw new ServiceError('parameterMissing', { values: { parameter: 'enddate' } })
  return { first: String(first), last: String(last) }
}
