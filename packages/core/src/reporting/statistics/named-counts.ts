import { deliveryTime } from './delivery-times.ts'
import { METRICS, NO_COUNTS } from './metrics.ts'
import type { CountsRow } from './read.ts'
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
  const rest = { ...(total?.counts ?? NO_COUNTS) }
  for (const { counts } of named) for (const metric of METRICS) rest[metric] -= counts[metric]
  return [...named, { name: others, counts: rest, deliveryTime: null }]
}
