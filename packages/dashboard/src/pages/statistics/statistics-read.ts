import {
  MAILBOX_PROVIDERS,
  type NamedCounts,
  OTHER_PROVIDERS,
  type Subject,
  type SumsAnswer,
  type Weights,
} from '@postrider/core'
import { type Attempt, attempt } from '../../frame/attempt.ts'
import { type AccountCall, field } from '../../frame/call.ts'
import type { ShownSpan } from './span.ts'
import { sumOf } from './statistics-tiles.ts'

/** The groupings of the table, by their name in the query; null: by mailbox provider, which core counts otherwise. */
export const SUBJECTS = {
  provider: null,
  site: 'recipient_domain',
  tag: 'tag',
  domain: 'domain',
} as const satisfies Record<string, Subject | null>
export type SubjectName = keyof typeof SUBJECTS
export const NAMES = Object.keys(SUBJECTS) as SubjectName[]

/** Returns the grouping of the query: by recipient domain, unless it says otherwise. */
export function subjectOf({ query }: AccountCall): SubjectName {
  return NAMES.find((name) => name === field(query, 'by')) ?? 'site'
}

/** Orders of the table, highest first, by the name in the query. */
export const SORTS = {
  accepted: { processed: 1 },
  delivered: { sent: 1 },
  bounced: { hard_bounced: 1, soft_bounced: 1, expired: 1 },
  opened: { unique_opened: 1 },
  clicked: { unique_clicked: 1 },
  unsubscribed: { unsubscribed: 1 },
  complained: { complained: 1 },
} as const satisfies Record<string, Weights>
export type SortName = keyof typeof SORTS
const SORT_NAMES = Object.keys(SORTS) as SortName[]

export function sortOf({ query }: AccountCall): SortName {
  return SORT_NAMES.find((name) => name === field(query, 'sort')) ?? 'delivered'
}

/** The page of names whose sums are read. */
interface SumsPage {
  readonly limit: number
  readonly offset: number
}

/** A page of sums. */
export interface SumsRead extends Pick<SumsAnswer, 'stats' | 'total'> {
  /** Whether delivery times are among them. */
  readonly hasTimes: boolean
}

/** Returns the sums by name, with delivery times except for providers. */
export async function readSums(call: AccountCall, span: ShownSpan, page: SumsPage): Promise<Attempt<SumsRead>> {
  const { first, last } = span
  const subject = SUBJECTS[subjectOf(call)]
  if (subject === null) return attempt(() => readProviders(call, span))
  const order = { by: SORTS[sortOf(call)], descending: true }
  const question = { accountId: call.account.id, subject, first, last, order, ...page, times: true }
  return attempt(async () => ({ ...(await call.core.stats.sums(question, call.reads)), hasTimes: true }))
}

/** The sums of the few providers whose domains are known, and of all others. */
async function readProviders(call: AccountCall, { first, last }: ShownSpan): Promise<SumsRead> {
  const wanted = {
    kind: 'groups',
    subject: 'recipient_domain',
    groups: MAILBOX_PROVIDERS,
    others: OTHER_PROVIDERS,
  } as const
  const question = { accountId: call.account.id, first, last, wanted, period: 'month', limit: 100, offset: 0 } as const
  const { periods, ...answer } = await call.core.stats.show(question, call.reads)
  const sort = Object.keys(SORTS[sortOf(call)]) as (keyof NamedCounts['counts'])[]
  const weight = ({ counts }: NamedCounts) => sort.reduce((sum, metric) => sum + counts[metric], 0)
  const stats = [...MAILBOX_PROVIDERS.keys(), OTHER_PROVIDERS]
    .map((name): NamedCounts => {
      const own = periods.map(({ date, stats: all }) => ({ date, stats: all.filter((one) => one.name === name) }))
      return { name, counts: sumOf({ ...answer, periods: own }), deliveryTime: null }
    })
    .filter(({ counts }) => counts.processed > 0)
    .sort((a, b) => weight(b) - weight(a))
  return { stats, total: stats.length, hasTimes: false }
}
