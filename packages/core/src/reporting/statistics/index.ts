import type { Sql, SqlTransaction } from '../../platform/database/database.ts'
import { invalidParameter, ServiceError } from '../../platform/errors.ts'
import type { BounceClassification } from '../events/index.ts'
import { type BouncesOfDay, countBounces } from './bounces.ts'
import { type DeliveryTime, deliveryTime } from './delivery-times.ts'
import { type Counts, METRICS, NO_COUNTS, type Subject } from './metrics.ts'
import { MAX_DAYS, MAX_DAYS_WITH_NAMES, type Period, periodsOf, requireSpan, type Span } from './periods.ts'
import {
  type AsOf,
  type Counted,
  type CountsRow,
  countNames,
  type Order,
  selectAsOf,
  selectCounts,
  selectCountsOfEach,
  selectCountsOfSubaccounts,
  selectSums,
} from './read.ts'
import { type RecountRequest, recount } from './recount.ts'
import { selectKnownTags, selectTags, type Tag, type TagPage } from './tags.ts'

export type { BouncesOfDay } from './bounces.ts'
export type { DeliveryTime } from './delivery-times.ts'
export type { Counts, Metric, Subject, Weights } from './metrics.ts'
export type { Period, Span } from './periods.ts'
export type { AsOf, Order } from './read.ts'
export type { RecountRequest } from './recount.ts'
export { rollUp } from './rollup.ts'
export type { Tag, TagPage } from './tags.ts'

/** The requested counts: of all mail, of one name, of some names, of groups of names or of each name. */
export type Wanted =
  | { readonly kind: 'total' }
  | { readonly kind: 'one'; readonly subject: Subject; readonly name: string }
  | { readonly kind: 'some'; readonly subject: Subject; readonly names: readonly string[] }
  | {
      readonly kind: 'groups'
      readonly subject: Subject
      /** The names of each group, which are counted together. */
      readonly groups: ReadonlyMap<string, readonly string[]>
      /** Name of the group of all other names. */
      readonly others: string
    }
  | { readonly kind: 'each'; readonly subject: Subject | 'subaccount' }

export interface BouncesRequest extends Pick<Question, 'accountId' | 'first' | 'last'> {
  readonly classification: BounceClassification | undefined
}

interface Question {
  readonly accountId: number
  /** User name of a subaccount that is queried instead of the account. */
  readonly subaccount?: string | undefined
  /** `yyyy-mm-dd` in the account's time zone. */
  readonly first: string
  /** Inclusive; undefined for today, or the first day if that is later. */
  readonly last?: string | undefined
  /** Whether to include delivery times. */
  readonly times?: boolean
  readonly limit: number
  readonly offset: number
}

export interface StatsQuery extends Question {
  readonly wanted: Wanted
  readonly period: Period
}

export interface SumsQuery extends Question {
  readonly subject: Subject
  /** Only this name; if undefined, all names in the given order. */
  readonly name?: string | undefined
  /** The default is most delivered mail first. The sum of all names that are not counted separately is always last. */
  readonly order?: Order
}

export interface NamedCounts {
  /** Null for the sum of all names that are not counted or not returned separately. */
  readonly name: string | null
  readonly counts: Counts
  /** Null if nothing was delivered or if it was not requested. */
  readonly deliveryTime: DeliveryTime | null
}

export interface StatsAnswer {
  readonly periods: readonly { readonly date: string; readonly stats: readonly NamedCounts[] }[]
  /** Number of periods in the date range. */
  readonly total: number
  readonly asOf: AsOf
}

export interface SumsAnswer extends Span {
  readonly stats: readonly NamedCounts[]
  /** Number of names. */
  readonly total: number
  readonly asOf: AsOf
}

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
    show: (question) =>
      inOneSnapshot(async (transaction) => {
        const { wanted, period, times = false, limit, offset } = question
        if (wanted.kind === 'one') requireText(wanted.name, wanted.subject)
        const { id: accountId, today } = await accountOf(transaction, question)
        const span = spanOf(question, today, wanted.kind === 'each' ? MAX_DAYS_WITH_NAMES : MAX_DAYS)
        const asOf = await selectAsOf(transaction, accountId)
        if (wanted.kind === 'each') await requireFew(transaction, { accountId, subject: wanted.subject, span, times })
        const { periods, total } = periodsOf(span, period, { limit, offset })
        const page = { first: periods[0]?.first ?? span.first, last: periods.at(-1)?.last ?? span.first }
        if (periods.length === 0) return { periods: [], total, asOf }
        const names = namesIn(wanted)
        if (names * periods.length > MAX_COUNTS_RETURNED) {
          const most = Math.floor(MAX_COUNTS_RETURNED / names)
          const fewer =
            wanted.kind === 'groups' ? 'use a shorter date range' : 'use a shorter date range or fewer names'
          const coarser = period === 'month' ? '' : `, or aggregate by ${period === 'day' ? 'week or month' : 'month'}`
          throw invalidParameter(
            'enddate',
            `a response has at most ${MAX_COUNTS_RETURNED} counts, which allows ${most} ${period}s here (got ${periods.length}); ` +
              `${fewer}${coarser}`,
          )
        }
        const query = { accountId, period, page, times }
        const rows =
          wanted.kind !== 'each'
            ? await selectCounts(transaction, query, countedOf(wanted))
            : wanted.subject === 'subaccount'
              ? await selectCountsOfSubaccounts(transaction, query, span)
              : await selectCountsOfEach(transaction, query, { subject: wanted.subject, span })
        const byDate = Map.groupBy(rows, ({ date }) => date)
        const totals = wanted.kind === 'groups' ? await selectCounts(transaction, query, TOTAL) : []
        // Every requested name gets a row.
        const stats = (found: CountsRow[] = []) =>
          wanted.kind === 'each'
            ? found.map(asNamed)
            : countedOf(wanted).names.map((name) => {
                const row = found.find((one) => one.name === name)
                return row ? asNamed(row) : noCounts(wanted.kind === 'total' ? null : name)
              })
        return {
          periods: periods.map(({ first: date }) => ({
            date,
            stats:
              wanted.kind === 'groups'
                ? grouped(
                    wanted,
                    byDate.get(date) ?? [],
                    totals.find((row) => row.date === date),
                  )
                : stats(byDate.get(date)),
          })),
          ...{ total, asOf },
        }
      }),

    sums: (question) =>
      inOneSnapshot(async (transaction) => {
        const { subject, name, times = false, order = BY_SENT, limit, offset } = question
        if (name !== undefined) requireText(name, subject)
        const { id: accountId, today } = await accountOf(transaction, question)
        const span = spanOf(question, today, name === undefined ? MAX_DAYS_WITH_NAMES : MAX_DAYS)
        const asOf = await selectAsOf(transaction, accountId)
        if (name === undefined) await requireFew(transaction, { accountId, subject, span, times })
        const { rows, total } = await selectSums(transaction, {
          ...{ accountId, subject, name, span, times, order, limit, offset },
        })
        const alone = name !== undefined && total === 0
        return { ...span, stats: alone ? [noCounts(name)] : rows.map(asNamed), total: alone ? 1 : total, asOf }
      }),

    bounces: (question) =>
      inOneSnapshot(async (transaction) => {
        const { id: accountId, today } = await accountOf(transaction, question)
        const span = spanOf(question, today, MAX_DAYS_WITH_NAMES)
        return countBounces(transaction, { accountId, span, classification: question.classification })
      }),

    async tags(page) {
      requireText(page.prefix, 'tag')
      return selectTags(sql, page)
    },
    knownTags: (accountId, names) => selectKnownTags(sql, accountId, names),
    recount: (request) => recount(sql, request),
  }
}

const TOTAL = { subject: 'total', names: [''] } as const

/** Returns the number of counts per period that are returned by name or summed for groups. */
function namesIn(wanted: Wanted): number {
  return wanted.kind === 'some' || wanted.kind === 'groups' ? countedOf(wanted).names.length : 0
}

/** Returns the counts of each group, followed by those of all other names. */
function grouped(
  { groups, others }: Extract<Wanted, { kind: 'groups' }>,
  rows: readonly CountsRow[],
  total: CountsRow | undefined,
): NamedCounts[] {
  const named = [...groups.keys()].map((name) => ({
    ...{ name, deliveryTime: null },
    counts: rows.find((row) => row.name === name)?.counts ?? NO_COUNTS,
  }))
  const rest = { ...(total?.counts ?? NO_COUNTS) }
  for (const { counts } of named) for (const metric of METRICS) rest[metric] -= counts[metric]
  return [...named, { name: others, counts: rest, deliveryTime: null }]
}

const BY_SENT: Order = { by: { sent: 1 }, descending: true }

function countedOf(wanted: Exclude<Wanted, { kind: 'each' }>): Counted {
  if (wanted.kind === 'total') return TOTAL
  if (wanted.kind === 'groups') {
    const members = [...wanted.groups].flatMap(([group, names]) => names.map((name) => ({ group, name })))
    return {
      subject: wanted.subject,
      names: members.map(({ name }) => name),
      as: members.map(({ group }) => group),
    }
  }
  return wanted.kind === 'one' ? { subject: wanted.subject, names: [wanted.name] } : wanted
}

function asNamed({ name, counts, histogram }: CountsRow): NamedCounts {
  return { name, counts, deliveryTime: deliveryTime(histogram) }
}

function noCounts(name: string | null): NamedCounts {
  return { name, counts: NO_COUNTS, deliveryTime: null }
}

/** Throws parameterInvalid for NUL, which the database does not accept in texts. */
function requireText(text: string, parameter: string): void {
  if (text.includes('\0')) throw invalidParameter(parameter, 'must not contain NUL')
}

function spanOf({ first, last }: Pick<Question, 'first' | 'last'>, today: string, most: number): Span {
  // In a client's time zone east of the account's, today can be the account's tomorrow.
  const span = { first, last: last ?? (first > today ? first : today) }
  requireSpan(span, most)
  return span
}

/** Limits the number of counts of single names. Throws parameterInvalid (enddate). */
async function requireFew(
  sql: SqlTransaction,
  { times, ...question }: { accountId: number; subject: Subject | 'subaccount'; span: Span; times: boolean },
): Promise<void> {
  const most = times ? MAX_COUNTS_READ.withTimes : MAX_COUNTS_READ.plain
  if ((await countNames(sql, { ...question, most })) <= most) return
  throw invalidParameter('enddate', `date range would read more than ${most} counters; use a shorter date range`)
}

/** Maximum counts of single names read per response: about 170 ms of processor time at 3.5 µs each, or 7 µs with delivery times. */
const MAX_COUNTS_READ = { plain: 50_000, withTimes: 25_000 }

/** Maximum counts of requested names per response, each about 400 bytes: ten names over two and a half years by day. */
const MAX_COUNTS_RETURNED = 10_000

async function accountOf(
  sql: SqlTransaction,
  { accountId, subaccount }: Pick<Question, 'accountId' | 'subaccount'>,
): Promise<{ id: number; today: string }> {
  if (subaccount?.includes('\0')) throw new ServiceError('subaccountUnknown')
  const [account] = await sql<{ id: number; today: string }[]>`
    select id, to_char(service_now() at time zone time_zone, 'YYYY-MM-DD') as today from accounts
     where ${
       subaccount === undefined
         ? sql`id = ${accountId}`
         : sql`parent_id = ${accountId} and lower(username) = lower(${subaccount}::text) and deleted_at is null`
     }`
  if (account) return account
  throw subaccount === undefined ? invalidParameter('account', 'does not exist') : new ServiceError('subaccountUnknown')
}
