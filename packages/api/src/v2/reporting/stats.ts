import { invalidParameter, parseDomain, type Wanted } from '@postrider/core'
import Type, { type Static } from 'typebox'
import { type Operation, operation } from '../operation.ts'
import { given, oneOf } from '../shapes.ts'
import { AS_OF, asOfFields, Metrics, PeriodInput, periodOf, questionOf, SpanInput, statsRowOf } from './stats-shapes.ts'
import { TAGS } from './tags.ts'

const StatsInput = Type.Object({
  ...SpanInput,
  ...PeriodInput,
  by: Type.Optional(Type.String({ description: 'group by `domain`, `site` (recipient domain) or `subaccount`' })),
  domain: Type.Optional(Type.String({ description: 'only this sending domain' })),
  site: Type.Optional(Type.String({ description: 'only this recipient domain' })),
  subaccount: Type.Optional(Type.String({ description: 'only this subaccount, by user name' })),
})

const Stats = Type.Array(
  Type.Object({
    date: Type.String({ description: 'first day of the period within the date range' }),
    stats: Type.Array(Type.Object({ name: Type.Optional(Type.String()), ...Metrics })),
  }),
)

const quiet = {
  sent: 0,
  bounce: 0,
  soft_bounce: 0,
  hard_bounce: 0,
  open: 0,
  unique_open: 0,
  click: 0,
  unsub: 0,
  spam: 0,
  dropped: 0,
  invalid: 0,
}

/** Statistics by day, week and month (contract section 13). */
export const STATS: readonly Operation[] = [
  operation({
    name: 'getStats',
    summary: 'Show statistics per day, week or month',
    cli: 'stats show',
    group: 'Stats',
    scope: 'stats',
    routes: [['/stats', 'GET', 'POST']],
    input: StatsInput,
    answer: Stats,
    envelope: AS_OF,
    errors: ['dateInvalid', 'datesReversed'],
    example: {
      input: { startdate: '2026-01-05', enddate: '2026-01-05' },
      data: [{ date: '2026-01-05', stats: [{ metrics: quiet }] }],
    },
    async act(input, call) {
      const question = { ...questionOf(input, call), period: periodOf(input), subaccount: given(input.subaccount) }
      const wanted = wantedOf(input)
      const { periods, total, asOf } = await call.core.stats.show({ ...question, wanted }, call.reads)
      const apart = wanted.kind === 'each'
      const data = periods.map(({ date, stats }) => ({
        date,
        stats: stats.map((row) => ({
          ...(wanted.kind === 'total' ? {} : { name: row.name ?? 'other' }),
          ...statsRowOf(row, question.times, apart),
        })),
      }))
      return { data, totalRecords: total, beside: asOfFields(asOf) }
    },
  }),
  ...TAGS,
]

const SUBJECTS = { domain: 'domain', site: 'recipient_domain', subaccount: 'subaccount' } as const

/** Counts exist for one dimension at a time. Throws parameterInvalid. */
function wantedOf(input: Static<typeof StatsInput>): Wanted {
  const by = oneOf(input.by, 'by', ['domain', 'site', 'subaccount'] as const)
  const named = (['domain', 'site'] as const).filter((parameter) => given(input[parameter]) !== undefined)
  const [first, second] = named
  if (second) throw invalidParameter(second, 'cannot be combined with domain')
  if (by && first) throw invalidParameter('by', `cannot be combined with ${first}`)
  if (by === 'subaccount' && given(input.subaccount)) {
    throw invalidParameter('by', 'cannot be subaccount if a subaccount is given')
  }
  if (by) return { kind: 'each', subject: SUBJECTS[by] }
  if (!first) return { kind: 'total' }
  const name = parseDomain(given(input[first]) ?? '')
  if (name === undefined) throw invalidParameter(first, 'is not a valid domain name')
  return { kind: 'one', subject: SUBJECTS[first], name }
}
