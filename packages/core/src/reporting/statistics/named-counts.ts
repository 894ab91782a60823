import { deliveryTime } from './delivery-times.ts'
import { type Counts, METRICS, NO_COUNTS } from './metrics.ts'
import type { CountsRow, PeriodRow } from './read.ts'
import type { NamedCounts, Wanted } from './stats.ts'

export function asNamed({ name, counts, histogram }: CountsRow): NamedCounts {
  return { name, counts, deliveryTime: deliveryTime(histogram) }
}

export function noCounts(name: string | null): NamedCounts {
  return { name, counts: NO_COUNTS, deliveryTime: null }
}

/** Returns the counts of each group, followed by those of all other names. */
export function grouped(
  { groups, others }: Extract<Wanted, { kind: 'groups' }>,
  rows: readonly CountsRow[],
  total: CountsRow | undefined,
): NamedCounts[] {
  const named = [...groups.keys()].map((name) => ({
    name,
    counts: rows.find((row) => row.name === name)?.counts ?? NO_COUNTS,
    deliveryTime: null,
  }))
  return [...named, { name: others, counts: less(total?.counts ?? NO_COUNTS, ...named), deliveryTime: null }]
}

/** Returns the counts of names, the most mail of a period first, each period followed by those of all other names if there are any. */
export function withRest(named: readonly PeriodRow[], all: readonly PeriodRow[]): PeriodRow[] {
  const byDate = Map.groupBy(named, ({ date }) => date)
  return all.flatMap((sum) => {
    const own = (byDate.get(sum.date) ?? []).sort(
      (one, other) => other.counts.sent - one.counts.sent || ((one.name ?? '') < (other.name ?? '') ? -1 : 1),
    )
    const rest = own.reduce<PeriodRow>(minus, sum)
    return METRICS.some((metric) => rest.counts[metric] > 0) ? [...own, rest] : own
  })
}

function minus(sum: PeriodRow, { counts, histogram }: PeriodRow): PeriodRow {
  const times = histogram
    ? (sum.histogram?.map((count, at) => Math.max(count - (histogram[at] ?? 0), 0)) ?? null)
    : sum.histogram
  return { date: sum.date, name: null, counts: less(sum.counts, { counts }), histogram: times }
}

function less(sum: Counts, ...named: readonly { readonly counts: Counts }[]): Counts {
  const rest = { ...sum }
  for (const { counts } of named) for (const metric of METRICS) rest[metric] -= counts[metric]
  return rest
}
