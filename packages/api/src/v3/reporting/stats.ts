import { type Counts, type Order, ServiceError, type Weights } from '@postrider/core'
import Type, { type Static, type TObject } from 'typebox'
import { type Call, type Operation, operation } from '../operation.ts'
import { sendPageLinks } from '../page-links.ts'
import { refuse } from '../refusal.ts'

/** v3's metrics and the counts each is made of. A block is a rejection unrelated to the address, or an expired delivery. */
export const METRICS = {
  blocks: { soft_bounced: 1, expired: 1 },
  bounce_drops: { bounce_dropped: 1 },
  bounces: { hard_bounced: 1 },
  clicks: { clicked: 1 },
  deferred: { deferred: 1 },
  delivered: { sent: 1 },
  invalid_emails: { invalid: 1 },
  opens: { opened: 1 },
  processed: { processed: 1 },
  // A delivery dropped after it was processed is not counted as two requests.
  requests: { processed: 1, dropped: 1, late_dropped: -1, invalid: 1 },
  spam_report_drops: { complaint_dropped: 1 },
  spam_reports: { complained: 1 },
  unique_clicks: { unique_clicked: 1 },
  unique_opens: { unique_opened: 1 },
  unsubscribe_drops: { unsubscribe_dropped: 1 },
  unsubscribes: { unsubscribed: 1 },
} as const satisfies Readonly<Record<string, Weights>>
type Metric = keyof typeof METRICS
const NAMES = Object.keys(METRICS) as Metric[]

export const SpanQuery = { start_date: Type.String(), end_date: Type.Optional(Type.String()) }
export const PeriodQuery = {
  ...SpanQuery,
  aggregated_by: Type.Optional(Type.Enum(['day', 'week', 'month'])),
  limit: Type.Optional(Type.Integer({ minimum: 0 })),
  offset: Type.Optional(Type.Integer({ minimum: 0 })),
}
export const OrderQuery = {
  sort_by_metric: Type.Optional(Type.Enum(NAMES)),
  sort_by_direction: Type.Optional(Type.Enum(['asc', 'desc'])),
}

/** Error texts of these parameters. */
export const WRONG = {
  start_date: 'start_date is required and must be in the format YYYY-MM-DD',
  end_date: 'end_date must be in the format YYYY-MM-DD',
  aggregated_by: 'aggregated_by must be one of day, week, month',
  limit: 'limit must be a whole number that is not negative',
  offset: 'offset must be a whole number that is not negative',
  sort_by_metric: `sort_by_metric must be one of ${NAMES.join(', ')}`,
  sort_by_direction: 'sort_by_direction must be asc or desc',
}

/** Statistics of all messages (contract section 4). */
export const STATS: readonly Operation[] = [
  operation({
    name: 'getStats',
    summary: 'Show statistics per day, week or month',
    cli: 'stats show',
    section: '4',
    method: 'GET',
    path: '/stats',
    scope: 'stats',
    right: 'stats.read',
    status: 200,
    alsoRight: 'stats.global.read',
    query: Type.Object(PeriodQuery),
    wrong: WRONG,
    act: async ({ query }, call) => {
      const { core, principal } = call
      const question = { accountId: principal.account.id, ...spanOf(query), ...pageOf(query) }
      const result = core.stats.show({ ...question, wanted: { kind: 'total' } }, call.reads)
      const { periods, total } = await result.catch(toV3Error)
      sendPeriodLinks(call, query, total)
      return periods.map(({ date, stats }) => ({
        date,
        stats: stats.map(({ counts }) => ({ metrics: metricsOf(counts) })),
      }))
    },
  }),
]

type Span = Static<TObject<typeof SpanQuery>>

/** Throws V3Refusal. */
export function spanOf({ start_date: first, end_date: last }: Span, wrong: Pick<typeof WRONG, keyof Span> = WRONG) {
  if (!isDay(first)) throw refuse(400, wrong.start_date, 'start_date')
  if (last !== undefined && !isDay(last)) throw refuse(400, wrong.end_date, 'end_date')
  return { first, last }
}

/** Default number of periods: all, since no date range has more days than this. */
const MAX_PERIODS = 10_000

export function pageOf(query: Static<TObject<typeof PeriodQuery>>) {
  const { aggregated_by: period = 'day', limit = MAX_PERIODS, offset = 0 } = query
  return { period, limit, offset }
}

/** Sends links to the other pages of periods if the caller requested pages. */
export function sendPeriodLinks(call: Call, { limit, offset = 0 }: Static<TObject<typeof PeriodQuery>>, total: number) {
  if (limit !== undefined && limit > 0) sendPageLinks(call, { limit, offset, total })
}

export function orderOf(query: Static<TObject<typeof OrderQuery>>): Order {
  const { sort_by_metric: metric = 'delivered', sort_by_direction: direction = 'desc' } = query
  return { by: METRICS[metric], descending: direction === 'desc' }
}

/** Returns the metrics sorted by name, as in recorded responses. */
export function metricsOf(counts: Counts): Record<Metric, number> {
  return sumsOf(counts, METRICS)
}

/**
 * Returns the metrics in the order of `metrics`. A response has up to ten thousand of these, so no intermediate objects are
 * created.
 */
export function sumsOf<Name extends string>(counts: Counts, metrics: Readonly<Record<Name, Weights>>) {
  const sums = {} as Record<Name, number>
  for (const name in metrics) sums[name] = sumOf(counts, metrics[name])
  return sums
}

function sumOf(counts: Counts, weights: Weights): number {
  let sum = 0
  for (const metric in weights) sum += (weights[metric as keyof Weights] ?? 0) * counts[metric as keyof Counts]
  return sum
}

function isDay(text: string): boolean {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  return !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === text
}

/** Translates core's errors about a date range to v3's parameter names. */
export function toV3Error(error: unknown): never {
  if (!(error instanceof ServiceError)) throw error
  if (error.errorName === 'dateInvalid') throw refuse(400, WRONG.start_date, 'start_date')
  if (error.errorName === 'datesReversed') throw refuse(400, 'end_date must not be before start_date', 'end_date')
  if (error.values.parameter === 'enddate') throw refuse(400, `end_date: ${error.values.problem}`, 'end_date')
  throw error
}
