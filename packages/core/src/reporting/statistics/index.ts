import type { Sql, SqlTransaction } from '../../platform/database/database.ts'
import type { BouncesOfDay } from './bounces.ts'
import type { Span } from './periods.ts'
import { requireText } from './question.ts'
import { type RecountRequest, recount } from './recount.ts'
import { showBounces } from './show-bounces.ts'
import { showStats } from './show-stats.ts'
import { showSums } from './show-sums.ts'
import type { BouncesRequest, StatsAnswer, StatsQuery, SumsAnswer, SumsQuery } from './stats.ts'
import { selectKnownTags, selectTags, type Tag, type TagPage } from './tags.ts'

export type { BouncesOfDay } from './bounces.ts'
export type { DeliveryTime } from './delivery-times.ts'
export type { Counts, Metric, Subject, Weights } from './metrics.ts'
export type { Period, Span } from './periods.ts'
export type { AsOf, Order } from './read.ts'
export type { RecountRequest } from './recount.ts'
export { rollUp } from './rollup.ts'
export type {
  BouncesRequest,
  NamedCounts,
  StatsAnswer,
  StatsQuery,
  SumsAnswer,
  SumsQuery,
  Wanted,
} from './stats.ts'
export type { Tag, TagPage } from './tags.ts'

/** Counts of events by day in the account's time zone. Each response is one snapshot and contains its position. */
export interface Stats {
  /**
   * Returns counts by day, week or month. Periods without events have zeros, except with `each`, where such names are omitted.
   *
   * Throws dateInvalid, datesReversed, subaccountUnknown or parameterInvalid (enddate: more than five years, or one year with each
   * name, or too many counts; the subject: its name contains NUL).
   */
  show(question: StatsQuery): Promise<StatsAnswer>
  /** Returns sums over the whole date range. Throws as `show` does. */
  sums(question: SumsQuery): Promise<SumsAnswer>
  /** Returns tags of the account. Throws parameterInvalid (tag: it contains NUL). */
  tags(page: TagPage): Promise<{ tags: Tag[]; total: number }>
  /** Returns bounces by classification or domain (bounces.ts). Throws dateInvalid, datesReversed or parameterInvalid (enddate). */
  bounces(question: BouncesRequest): Promise<BouncesOfDay[]>
  /** Returns which of these names are tags of the account. */
  knownTags(accountId: number, names: readonly string[]): Promise<string[]>
  /** See recount.ts. */
  recount(request: RecountRequest): Promise<Span | null>
}

export function createStats(sql: Sql): Stats {
  /** Calls `fn` with a transaction in which all statements see the same snapshot. */
  const inOneSnapshot = <T>(fn: (transaction: SqlTransaction) => Promise<T>): Promise<T> =>
    sql.begin('isolation level repeatable read read only', fn) as Promise<T>

  return {
    show: (question) => inOneSnapshot((transaction) => showStats(transaction, question)),
    sums: (question) => inOneSnapshot((transaction) => showSums(transaction, question)),
    bounces: (question) => inOneSnapshot((transaction) => showBounces(transaction, question)),
    async tags(page) {
      requireText(page.prefix, 'tag')
      return selectTags(sql, page)
    },
    knownTags: (accountId, names) => selectKnownTags(sql, accountId, names),
    recount: (request) => recount(sql, request),
  }
}
