import Type from 'typebox'
import { type Operation, operation } from '../operation.ts'
import { sendPageLinks } from '../page-links.ts'
import { notFound, refuse } from '../refusal.ts'
import {
  metricsOf,
  OrderQuery,
  orderOf,
  PeriodQuery,
  pageOf,
  SpanQuery,
  sendPeriodLinks,
  spanOf,
  toV3Error,
  WRONG,
} from './stats.ts'

/** Maximum number of categories per response. */
const MAX_CATEGORIES = 10_000
/** Accepted values of a parameter that has no effect: categories are always sorted by name. */
const SORTS = ['category', 'name', 'asc', 'desc']
const reading = { method: 'GET', scope: 'stats', status: 200 } as const

/** Categories, which are the service's tags, and their statistics (contract section 5). */
export const CATEGORIES: readonly Operation[] = [
  operation({
    name: 'listCategories',
    summary: 'List the categories used in messages, by name',
    cli: 'stats tags',
    ...reading,
    section: '5',
    path: '/categories',
    right: 'categories.read',
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1 })),
      offset: Type.Optional(Type.Integer({ minimum: 0 })),
      category: Type.Optional(Type.String()),
      sort_by: Type.Optional(Type.String()),
    }),
    wrong: { limit: 'limit must be a whole number from 1', offset: WRONG.offset },
    act: async ({ query }, call) => {
      const { core, principal } = call
      const { limit = 50, offset = 0, category: prefix = '', sort_by: sort } = query
      if (sort !== undefined && !SORTS.includes(sort)) throw refuse(400, 'invalid sort value', 'sort_by')
      const page = { accountId: principal.account.id, prefix, limit: Math.min(limit, MAX_CATEGORIES), offset }
      const { tags, total } = await core.stats.tags(page, call.reads)
      sendPageLinks(call, { limit: page.limit, offset, total })
      return tags.map(({ name }) => ({ category: name }))
    },
  }),
  operation({
    name: 'getCategoryStats',
    summary: 'Show statistics of some categories per day, week or month',
    cli: 'stats show',
    ...reading,
    section: '5',
    path: '/categories/stats',
    right: 'categories.stats.read',
    query: Type.Object({
      ...PeriodQuery,
      categories: Type.Array(Type.String(), { minItems: 1, maxItems: 10 }),
    }),
    wrong: { ...WRONG, categories: 'categories is required, at most 10' },
    act: async ({ query }, call) => {
      const { core, principal } = call
      const accountId = principal.account.id
      const names = [...new Set(query.categories)]
      const question = { accountId, ...spanOf(query), ...pageOf(query) }
      if ((await core.stats.knownTags(accountId, names)).length < names.length) throw notFound()
      const result = core.stats.show({ ...question, wanted: { kind: 'some', subject: 'tag', names } }, call.reads)
      const { periods, total } = await result.catch(toV3Error)
      sendPeriodLinks(call, query, total)
      return periods.map(({ date, stats }) => ({
        date,
        stats: stats.map(({ name, counts }) => ({ type: 'category', name, metrics: metricsOf(counts) })),
      }))
    },
  }),
  operation({
    name: 'getCategorySums',
    summary: 'List the categories with the highest value of a metric over the date range',
    cli: 'stats sums',
    ...reading,
    section: '5',
    path: '/categories/stats/sums',
    right: 'categories.stats.sums.read',
    query: Type.Object({
      ...SpanQuery,
      ...OrderQuery,
      aggregated_by: PeriodQuery.aggregated_by,
      limit: PeriodQuery.limit,
      offset: PeriodQuery.offset,
    }),
    wrong: WRONG,
    act: async ({ query }, { core, reads, principal }) => {
      const { limit = 5, offset = 0 } = query
      const question = { accountId: principal.account.id, ...spanOf(query), order: orderOf(query) }
      const page = { limit: Math.min(limit, MAX_CATEGORIES), offset }
      const { first, stats } = await core.stats.sums({ ...question, subject: 'tag', ...page }, reads).catch(toV3Error)
      // The total of names without a row of their own comes last; v3 has no name for it.
      const named = stats.filter(({ name }) => name !== null)
      const rows = named.map(({ name, counts }) => ({ name, type: 'category', metrics: metricsOf(counts) }))
      return { date: first, stats: rows }
    },
  }),
]
