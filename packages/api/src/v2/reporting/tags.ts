import Type from 'typebox'
import { timeText } from '../../http/time-text.ts'
import { type Operation, operation } from '../operation.ts'
import { Count, given, Offset, pageOf } from '../shapes.ts'
import { AS_OF, asOfFields, Metrics, PeriodInput, periodOf, questionOf, SpanInput, statsRowOf } from './stats-shapes.ts'

const TagInput = {
  tag: Type.Optional(Type.String({ description: 'only this tag; if absent, statistics per tag' })),
}

const TagStats = Type.Object({ tag_name: Type.String(), ...Metrics })

const counts = {
  sent: 3,
  bounce: 0,
  soft_bounce: 0,
  hard_bounce: 0,
  open: 2,
  unique_open: 2,
  click: 1,
  unsub: 0,
  spam: 0,
  dropped: 0,
  invalid: 0,
}
const berth = { tag_name: 'berth', metrics: counts }

/** Maximum number of tags per page. */
const MAX_TAGS = 1000

/** Contract section 13.2. */
export const TAGS: readonly Operation[] = [
  operation({
    name: 'listTags',
    summary: 'List the tags used in messages',
    cli: 'stats tags',
    group: 'Tags',
    scope: 'stats',
    routes: [['/tags', 'GET', 'POST']],
    input: Type.Object({
      limit: Count('at most 1000; default 100'),
      offset: Offset,
      tag: Type.Optional(Type.String({ description: 'only tags with this prefix' })),
    }),
    answer: Type.Array(Type.Object({ tag_name: Type.String(), createdTime: Type.String() })),
    errors: [],
    example: {
      input: { tag: 'be' },
      data: [{ tag_name: 'berth', createdTime: '2026-01-05 10:11:12' }],
    },
    async act(input, { core, reads, principal }) {
      const page = {
        accountId: principal.account.id,
        prefix: input.tag ?? '',
        ...pageOf(input, { byDefault: 100, most: MAX_TAGS }),
      }
      const { tags, total } = await core.stats.tags(page, reads)
      const data = tags.map(({ name, createdAt }) => ({ tag_name: name, createdTime: timeText(createdAt) }))
      return { data, totalRecords: total }
    },
  }),
  operation({
    name: 'getTagStats',
    summary: 'Show statistics of tags per day, week or month',
    cli: 'stats show',
    group: 'Tags',
    scope: 'stats',
    routes: [['/tags/stats', 'GET', 'POST']],
    input: Type.Object({ ...SpanInput, ...PeriodInput, ...TagInput }),
    answer: Type.Array(Type.Object({ date: Type.String(), stats: Type.Array(TagStats) })),
    envelope: AS_OF,
    errors: ['dateInvalid', 'datesReversed'],
    example: {
      input: { startdate: '2026-01-05', tag: 'berth' },
      data: [{ date: '2026-01-05', stats: [berth] }],
    },
    async act(input, call) {
      const question = { ...questionOf(input, call), period: periodOf(input) }
      const name = given(input.tag)
      const wanted = name
        ? ({ kind: 'one', subject: 'tag', name } as const)
        : ({ kind: 'each', subject: 'tag' } as const)
      const { periods, total, asOf } = await call.core.stats.show({ ...question, wanted }, call.reads)
      const data = periods.map(({ date, stats }) => ({
        date,
        stats: stats.map((row) => ({ tag_name: row.name ?? 'other', ...statsRowOf(row, question.times, true) })),
      }))
      return { data, totalRecords: total, beside: asOfFields(asOf) }
    },
  }),
  operation({
    name: 'getTagSums',
    summary: 'Show statistics per tag over a date range, most used tags first',
    cli: 'stats sums',
    group: 'Tags',
    scope: 'stats',
    routes: [['/tags/stats/sums', 'GET', 'POST']],
    input: Type.Object({ ...SpanInput, ...TagInput }),
    answer: Type.Object({ startdate: Type.String(), enddate: Type.String(), stats: Type.Array(TagStats) }),
    envelope: AS_OF,
    errors: ['dateInvalid', 'datesReversed'],
    example: {
      input: { startdate: '2026-01-01' },
      data: { startdate: '2026-01-01', enddate: '2026-01-05', stats: [berth] },
    },
    async act(input, call) {
      const question = questionOf(input, call)
      const answer = await call.core.stats.sums({ ...question, subject: 'tag', name: given(input.tag) }, call.reads)
      const { first: startdate, last: enddate, stats, total, asOf } = answer
      const rows = stats.map((row) => ({ tag_name: row.name ?? 'other', ...statsRowOf(row, question.times, true) }))
      return { data: { startdate, enddate, stats: rows }, totalRecords: total, beside: asOfFields(asOf) }
    },
  }),
]
