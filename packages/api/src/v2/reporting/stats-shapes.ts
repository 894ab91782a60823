import { type AsOf, type Counts, type NamedCounts, type Period, ServiceError } from '@postrider/core'
import Type, { type Static, type TObject } from 'typebox'
import type { Call, Envelope } from '../operation.ts'
import { Count, given, oneOf, pageOf } from '../shapes.ts'

/** Schemas that the statistics of all messages and of tags share. */

const Day = Type.Optional(
  Type.Union([Type.String(), Type.Number()], { description: "yyyy-mm-dd in the account's time zone" }),
)

/** Empty parameters are ignored, since clients send them (contract 12.1). */
export const SpanInput = {
  startdate: Day,
  enddate: Day,
  startDate: Day,
  endDate: Day,
  start_date: Day,
  end_date: Day,
  limit: Count('at most 100 (default)'),
  offset: Count('number of the first row, from 1; 0 counts as 1'),
  metrics: Type.Optional(Type.String({ description: '`all` adds further metrics and delivery times' })),
}

export const PeriodInput = {
  aggregated_by: Type.Optional(Type.String({ description: '`day` (the default), `week` or `month`' })),
}

type SpanInput = Static<TObject<typeof SpanInput>>

const eleven = {
  sent: Type.Integer(),
  bounce: Type.Integer(),
  soft_bounce: Type.Integer(),
  hard_bounce: Type.Integer(),
  open: Type.Integer(),
  unique_open: Type.Integer(),
  click: Type.Integer(),
  unsub: Type.Integer(),
  spam: Type.Integer(),
  dropped: Type.Integer(),
  invalid: Type.Integer(),
}
const further = {
  processed: Type.Optional(Type.Integer()),
  deferred: Type.Optional(Type.Integer()),
  expired: Type.Optional(Type.Integer()),
  unique_click: Type.Optional(Type.Integer()),
  machine_open: Type.Optional(
    Type.Integer({ description: 'opens by link scanners and image proxies, not included in `open`' }),
  ),
  machine_click: Type.Optional(Type.Integer()),
}

/** Metrics of one name, with delivery times if `metrics=all`. */
export const Metrics = {
  metrics: Type.Object({ ...eleven, ...further }),
  deliveryTime: Type.Optional(
    Type.Union([Type.Object({ p50: Type.Number(), p90: Type.Number(), p99: Type.Number() }), Type.Null()], {
      description: 'seconds from due time to delivery; null if nothing was delivered',
    }),
  ),
  other: Type.Optional(Type.Literal(true, { description: 'total of all names without a row of their own' })),
}

/** Every response states which events it includes. */
export const AS_OF: Envelope = {
  beside: Type.Object({
    totalRecords: Type.Integer({ description: 'total number of rows' }),
    asOf: Type.Object(
      { event: Type.Integer(), time: Type.Union([Type.String(), Type.Null()]) },
      {
        description:
          "number and time of the account's last counted event; all earlier events are counted, no later ones are",
      },
    ),
  }),
  example: { totalRecords: 1, asOf: { event: 4711, time: '2026-01-05T10:21:00.000Z' } },
}

export function asOfFields({ event, time }: AsOf) {
  return { asOf: { event, time: time?.toISOString() ?? null } }
}

/**
 * Metric names of contract 16.4. Expired deliveries count as bounces, so that sent, bounce, invalid and dropped finally add up to
 * all mail.
 */
export function metricsOf(counts: Counts, all: boolean): Static<typeof Metrics.metrics> {
  const soft = counts.soft_bounced + counts.expired
  return {
    sent: counts.sent,
    bounce: soft + counts.hard_bounced,
    soft_bounce: soft,
    hard_bounce: counts.hard_bounced,
    open: counts.opened,
    unique_open: counts.unique_opened,
    click: counts.clicked,
    unsub: counts.unsubscribed,
    spam: counts.complained,
    dropped: counts.dropped,
    invalid: counts.invalid,
    ...(all
      ? {
          processed: counts.processed,
          deferred: counts.deferred,
          expired: counts.expired,
          unique_click: counts.unique_clicked,
          machine_open: counts.machine_opened,
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
  // Each name can replace the other two, so the schema requires none; a schema with a required name would report this (contract
  // section 3).
  if (Object.keys(input).length === 0 && request.method !== 'GET') throw new ServiceError('bodyBlank')
  const first = given(input.startdate) ?? given(input.startDate) ?? given(input.start_date)
  if (first === undefined) throw new ServiceError('parameterMissing', { values: { parameter: 'startdate' } })
  const last = given(input.enddate) ?? given(input.endDate) ?? given(input.end_date)
  const { limit, offset } = pageOf(input, { byDefault: MAX_ROWS, most: MAX_ROWS })
  return {
    accountId: principal.account.id,
    first,
    last,
    times: oneOf(input.metrics, 'metrics', ['all'] as const) === 'all',
    limit,
    offset: Math.max(offset - 1, 0),
  }
}

const MAX_ROWS = 100

export function periodOf(input: { readonly aggregated_by?: string }): Period {
  return oneOf(input.aggregated_by, 'aggregated_by', ['day', 'week', 'month'] as const) ?? 'day'
}
