import type { SqlTransaction } from '../../platform/database/database.ts'
import { invalidParameter } from '../../platform/errors.ts'
import { asNamed, grouped, noCounts, withRest } from './named-counts.ts'
import { MAX_DAYS, MAX_DAYS_WITH_NAMES, type Period, periodsOf, type Span } from './periods.ts'
import { accountOf, requireText, spanOf } from './question.ts'
import {
  type Counted,
  type CountsRow,
  type PeriodRow,
  type PeriodsQuestion,
  selectAsOf,
  selectCounts,
  selectCountsOfEach,
  selectCountsOfSubaccounts,
  selectThrough,
} from './read.ts'
import type { NamedCounts, StatsAnswer, StatsQuery, Wanted } from './stats.ts'

/** Maximum counts of requested names per response, each about 400 bytes: ten names over two and a half years by day. */
const MAX_COUNTS_RETURNED = 10_000

const TOTAL = { subject: 'total', names: [''] } as const

export async function showStats(sql: SqlTransaction, question: StatsQuery): Promise<StatsAnswer> {
  const { wanted, period, times = false, limit, offset } = question
  if (wanted.kind === 'one') requireText(wanted.name, wanted.subject)
  if (wanted.kind === 'some') for (const name of wanted.names) requireText(name, wanted.subject)
  const { id: accountId, today } = await accountOf(sql, question)
  const span = spanOf(question, today, wanted.kind === 'each' ? MAX_DAYS_WITH_NAMES : MAX_DAYS)
  const asOf = await selectAsOf(sql, accountId)
  const { periods, total } = periodsOf(span, period, { limit, offset })
  const [first, last] = [periods[0], periods.at(-1)]
  if (!first || !last) return { periods: [], total, asOf }
  requireFewCounts(wanted, period, periods.length)
  const query = { accountId, period, page: { first: first.first, last: last.last }, times }
  const rows = Map.groupBy(await selectRows(sql, wanted, query, span), ({ date }) => date)
  const totals = wanted.kind === 'groups' ? await selectCounts(sql, query, TOTAL) : []
  const statsOn = (date: string): NamedCounts[] => {
    const found = rows.get(date) ?? []
    if (wanted.kind !== 'groups') return statsOf(wanted, found)
    return grouped(
      wanted,
      found,
      totals.find((row) => row.date === date),
    )
  }
  return { periods: periods.map(({ first: date }) => ({ date, stats: statsOn(date) })), total, asOf }
}

/** Limits the number of counts of a response. Throws parameterInvalid (enddate). */
function requireFewCounts(wanted: Wanted, period: Period, periods: number): void {
  const names = namesIn(wanted)
  if (names * periods <= MAX_COUNTS_RETURNED) return
  const most = Math.floor(MAX_COUNTS_RETURNED / names)
  const fewer = wanted.kind === 'groups' ? 'use a shorter date range' : 'use a shorter date range or fewer names'
  const coarser = period === 'month' ? '' : `, or aggregate by ${period === 'day' ? 'week or month' : 'month'}`
  throw invalidParameter(
    'enddate',
    `a response has at most ${MAX_COUNTS_RETURNED} counts, which allows ${most} ${period}s here (got ${periods}); ` +
      `${fewer}${coarser}`,
  )
}

/** Returns the number of counts per period that are returned by name or summed for groups. */
function namesIn(wanted: Wanted): number {
  return wanted.kind === 'some' || wanted.kind === 'groups' ? countedOf(wanted).names.length : 0
}

async function selectRows(
  sql: SqlTransaction,
  wanted: Wanted,
  query: PeriodsQuestion,
  span: Span,
): Promise<PeriodRow[]> {
  if (wanted.kind !== 'each') return selectCounts(sql, query, countedOf(wanted))
  if (wanted.subject === 'subaccount') return selectCountsOfSubaccounts(sql, query, span)
  const { subject } = wanted
  const through = await selectThrough(sql, query.accountId, subject)
  const { named, all } = await selectCountsOfEach(sql, query, { subject, span, through })
  return withRest(named, all)
}

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

/** Returns the counts of one period. Every requested name gets a row. */
function statsOf(wanted: Exclude<Wanted, { kind: 'groups' }>, found: readonly CountsRow[]): NamedCounts[] {
  if (wanted.kind === 'each') return found.map(asNamed)
  return countedOf(wanted).names.map((name) => {
    const row = found.find((one) => one.name === name)
    return row ? asNamed(row) : noCounts(wanted.kind === 'total' ? null : name)
  })
}
