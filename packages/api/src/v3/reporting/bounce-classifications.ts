import { BOUNCE_CLASSIFICATIONS, type BounceClassification } from '@postrider/core'
import Type from 'typebox'
import { type Call, type Operation, operation } from '../operation.ts'
import { READS } from '../suppressions/suppressions.ts'
import { SpanQuery, spanOf, toV3Error } from './stats.ts'

/** StrongGrid uses the plural; other clients follow the documentation, which has the singular. */
const PATHS = [
  { path: '/suppression/bounces/classifications', suffix: '', cli: 'stats bounces' },
  {
    path: '/suppressions/bounces/classifications',
    suffix: 'Plural',
    cli: { none: 'another path of the same operation' },
  },
] as const
const reading = {
  ...({ section: '7.1', method: 'GET', scope: 'suppressions', right: 'suppression.bounces.read' } as const),
  ...READS,
}
const Span = Type.Object({ start_date: Type.Optional(Type.String()), end_date: SpanQuery.end_date })
/** `start_date` is optional here. */
const WRONG = {
  start_date: 'start_date must be a date in the format YYYY-MM-DD, or Unix seconds',
  end_date: 'end_date must be a date in the format YYYY-MM-DD, or Unix seconds',
}
const OfClassification = Type.Object({ classification: Type.Enum([...BOUNCE_CLASSIFICATIONS]) })

/** Bounces by day and classification (contract 7.1). */
export const BOUNCE_CLASSES: readonly Operation[] = PATHS.flatMap(({ path, suffix, cli }) => [
  operation({
    name: `countBounceClassifications${suffix}`,
    summary: 'Count the bounces per day and classification',
    cli,
    ...reading,
    path,
    status: 200,
    query: Span,
    wrong: WRONG,
    act: async ({ query }, call) => ({
      result: (await bounces(call, query)).map(({ date, counts }) => ({
        date,
        stats: counts.map(({ name, count }) => ({ classification: name, count })),
      })),
    }),
  }),
  operation({
    name: `countBouncesOf${suffix}`,
    summary: 'Count the bounces of one classification per day and domain',
    cli,
    ...reading,
    path: `${path}/:classification`,
    status: 200,
    params: OfClassification,
    query: Span,
    wrong: WRONG,
    act: async ({ params, query }, call) => ({
      result: (await bounces(call, query, params.classification)).map(({ date, counts }) => ({
        date,
        stats: counts.map(({ name, count }) => ({ domain: name, count })),
      })),
    }),
  }),
])

const DAY_MS = 86_400_000
/** Number of days if `start_date` is omitted. */
const DAYS = 30

function bounces(
  { core, reads, principal }: Call,
  { start_date: start, end_date: end }: { readonly start_date?: string; readonly end_date?: string },
  classification?: BounceClassification,
) {
  const first = start === undefined ? dayOf(core.clock.now() - DAYS * DAY_MS) : dayFrom(start)
  const span = spanOf({ start_date: first, ...(end === undefined ? {} : { end_date: dayFrom(end) }) }, WRONG)
  return core.stats.bounces({ accountId: principal.account.id, ...span, classification }, reads).catch(toV3Error)
}

/** Some clients send Unix seconds here, as they do for the lists. */
function dayFrom(text: string): string {
  return /^\d{1,11}$/.test(text) ? dayOf(Number(text) * 1000) : text
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}
