/** Seconds within which so many of the deliveries were made, from when each was first due. Off by 9 % at most. */
export interface DeliveryTime {
  readonly p50: number
  readonly p90: number
  readonly p99: number
}

/** Seconds at which the first bucket ends; each further one ends a quarter of a doubling later (sql/0022_statistics.sql). */
const FIRST_END = 0.01
const PER_DOUBLING = 4
/** The last one has all that took longer. */
export const BUCKETS = 110

/** How many deliveries are in each bucket. */
export type Histogram = readonly number[]

/** Null: nothing was delivered. */
export function deliveryTime(histogram: Histogram | null): DeliveryTime | null {
  const total = (histogram ?? []).reduce((sum, count) => sum + count, 0)
  if (!histogram || total === 0) return null
  return { p50: at(histogram, total * 0.5), p90: at(histogram, total * 0.9), p99: at(histogram, total * 0.99) }
}

/** The middle of the bucket in which the sum of the counts reaches `rank`. */
function at(histogram: Histogram, rank: number): number {
  let sum = 0
  const bucket = histogram.findIndex((count) => (sum += count) >= rank)
  const middle = bucket === 0 ? FIRST_END : FIRST_END * 2 ** ((bucket - 0.5) / PER_DOUBLING)
  return Number(middle.toPrecision(3))
}
