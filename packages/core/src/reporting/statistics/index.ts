import type { Sql } from '../../platform/database/database.ts'
import type { Reads } from '../../platform/database/reads.ts'
import type { BouncesOfDay } from './bounces.ts'
import type { Span } from './periods.ts'
import { requireText } from './question.ts'
import { type RecountRequest, recount } from './recount.ts'
import { showBounces } from './show-bounces.ts'
import { showStats } from './show-stats.ts'
import { showSums } from './show-sums.ts'
import type { BouncesRequest, StatsAnswer, StatsQuery, SumsAnswer, SumsQuery } from './stats.ts'
import { sumSome } from './sum-names.ts'
import { selectKnownTags, selectTagNames, selectTags, type Tag, type TagPage } from './tags.ts'

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

/** Counts of events by day in the account's time zone. Each response is one snapshot and contains its position; without `reads`, the current one. */
export interface Stats {
  /**
   * Returns counts by day, week or month. Periods without events have zeros, except with `each`, where such names are omitted.
   *
   * Throws dateInvalid, datesReversed, subaccountUnknown or parameterInvalid (enddate: more than five years, or one year with each
   * name, or too many counts of requested names; the subject: its name contains NUL).
   */
  show(question: StatsQuery, reads?: Reads): Promise<StatsAnswer>
  /** Returns sums over the whole date range. Throws as `show` does. */
  sums(question: SumsQuery, reads?: Reads): Promise<SumsAnswer>
  /** Returns tags of the account. Throws parameterInvalid (tag: it contains NUL). */
  tags(page: TagPage, reads?: Reads): Promise<{ tags: Tag[]; total: number }>
  /** Returns the first names of tags that begin with `prefix`. Throws as `tags` does. */
  tagNames(page: Omit<TagPage, 'offset'>): Promise<string[]>
  /** Returns bounces by classification or domain (bounces.ts). Throws dateInvalid, datesReversed or parameterInvalid (enddate). */
  bounces(question: BouncesRequest, reads?: Reads): Promise<BouncesOfDay[]>
  /** Returns which of these names are tags of the account. */
  knownTags(accountId: number, names: readonly string[]): Promise<string[]>
  /** See recount.ts. */
  recount(request: RecountRequest): Promise<Span | null>
  /** See sum-names.ts. */
  sumSome(): Promise<boolean>
}

export function createStats({ sql, reads: current }: { readonly sql: Sql; readonly reads: Reads }): Stats {
  return {
    show: (question, reads = current) => reads.snapshot((snapshot) => showStats(snapshot, question)),
    sums: (question, reads = current) => reads.snapshot((snapshot) => showSums(snapshot, question)),
    bounces: (question, reads = current) => reads.snapshot((snapshot) => showBounces(snapshot, question)),
    async tags(page, reads = current) {
      requireText(page.prefix, 'tag')
      return reads.snapshot((snapshot) => selectTags(snapshot, page))
    },
    async tagNames(page) {
      requireText(page.prefix, 'tag')
      return selectTagNames(sql, page)
    },
    knownTags: (accountId, names) => selectKnownTags(sql, accountId, names),
    recount: (request) => recount(sql, request),
    sumSome: () => sumSome(sql),
  }
}
