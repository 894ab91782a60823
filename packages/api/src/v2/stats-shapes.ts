import { type AsOf, type Counts, type NamedCounts, type Period, ServiceError } from '@postrider/core'
import Type, { type Static, type TObject } from 'typebox'
import type { Call, Envelope } from './operation.ts'
import { Count, given, oneOf, pageOf } from './shapes.ts'

/** What the statistics of mail and of its tags share. */

const Day = Type.Optional(
  Type.Union([Type.String(), Type.Number()], { description: "yyyy-mm-dd in the account's time zone" }),
)

/** A parameter without a value is as if it were not there: clients fill in forms of them (contract 12.1). */
export const SpanInput = {
  startdate: Day,
  enddate: Day,
  startDate: Day,
  endDate: Day,
  start_date: Day,
  end_date: Day,
  limit: Count('at most 100, which is the default'),
  offset: Count('the first row is 1, and so is 0'),
  metrics: Type.Optional(Type.String({ description: '`all`: further metrics, and delivery times' })),
}

export const PeriodInput = {
  aggregated_by: Type.Optional(Type.String({ description: '`day` (the default), `week` or `month`' })),
}

type SpanInput = Static<TObject<typeof SpanInput>>

const eleven = {
  ...{ sent: Type.Integer(), bounce: Type.Integer(), soft_bounce: Type.Integer(), hard_bounce: Type.Integer() },
  ...{ open: Type.Integer(), unique_open: Type.Integer(), click: Type.Integer(), unsub: Type.Integer() },
  ...{ spam: Type.Integer(), dropped: Type.Integer(), invalid: Type.Integer() },
}
const further = {
  ...{ processed: Type.Optional(Type.Integer()), deferred: Type.Optional(Type.Integer()) },
  ...{ expired: Type.Optional(Type.Integer()), unique_click: Type.Optional(Type.Integer()) },
  machine_open: Type.Optional(Type.Integer({ description: 'by link scanners and image proxies; `open` is without' })),
  machine_click: Type.Optional(Type.Integer()),
}

/** Of one name, and with `metrics=all` its delivery times. */
export const Metrics = {
  metrics: Type.Object({ ...eleven, ...further }),
  deliveryTime: Type.Optional(
    Type.Union([Type.Object({ p50: Type.Number(), p90: Type.Number(), p99: Type.Number() }), Type.Null()], {
      description: 'seconds from when it was due to when it was delivered; null: nothing was',
    }),
  ),
  other: Type.Optional(Type.Literal(true, { description: 'of all names that have no row of their own' })),
}

/** Every answer says what it is made of. */
export const AS_OF: Envelope = {
  beside: Type.Object({
    totalRecords: Type.Integer({ description: 'rows in all' }),
    asOf: Type.Object(
      { event: Type.Integer(), time: Type.Union([Type.String(), Type.Null()]) },
      {
        description:
          "number and time of the account's last event that is counted; every one before it is, none behind it",
      },
    ),
  }),
  example: { totalRecords: 1, asOf: { event: 4711, time: '2026-01-05T10:21:00.000Z' } },
}

export function besideOf({ event, time }: AsOf) {
  return { asOf: { event, time: time?.toISOString() ?? null } }
}

/** The words of contract 16.4. What expired is a bounce too, so that sent, bounce, invalid and dropped are all mail in the end. */
export function metricsOf(counts: Counts, all: boolean): Static<typeof Metrics.metrics> {
  const soft = counts.soft_bounced + counts.expired
  return {
    ...{ sent: counts.sent, bounce: soft + counts.hard_bounced, soft_bounce: soft, hard_bounce: counts.hard_bounced },
    ...{ open: counts.opened, unique_open: counts.unique_opened, click: counts.clicked, unsub: counts.unsubscribed },
    ...{ spam: counts.complained, dropped: counts.dropped, invalid: counts.invalid },
    ...(all
      ? {
          ...{ processed: counts.processed, deferred: counts.deferred, expired: counts.expired },
          ...{ unique_click: counts.unique_clicked, machine_open: counts.machine_opened },
          machine_click: counts.machine_clicked,
        }
      : {}),
  }
}

export function statsRowOf({ name, counts, deliveryTime }: NamedCounts, all: boolean, known: boolean) {
  const other = known && name === null ? { other: true as const } : {}
  return { ...other, metrics: metricsOf(counts, all), ...(all ? { deliveryTime } : {}) }
}

/** Throws bodyBlank, parameterMissing, parameterInvalid. */
export function questionOf(input: SpanInput, { request, principal }: Call) {
  // Each name may stand for the other two, so none is required by the schema, which would have said this (contract section 3).
  if (Object.keys(input).length === 0 && request.method !== 'GET') throw new ServiceError('bodyBlank')
  const first = given(input.startdate) ?? given(input.startDate) ?? given(input.start_date)
  if (first === undefined) throw new ServiceError('parameterMissing', { values: { parameter: 'startdate' } })
  const last = given(input.enddate) ?? given(input.endDate) ?? given(input.end_date)
  const { limit, offset } = pageOf(input, { byDefault: MOST_ROWS, most: MOST_ROWS })
  return {
    accountId: principal.account.id,
    ...{ first, last, times: oneOf(input.metrics, 'metrics', ['all'] as const) === 'all' },
    limit,
    offset: Math.max(offset - 1, 0),
  }
}

const MOST_ROWS = 100

export function periodOf(input: { readonly aggregated_by?: string }): Period {
  return oneOf(input.aggregated_by, 'aggregated_by', ['day', 'week', 'month'] as const) ?? 'day'
}
