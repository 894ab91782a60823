/** Percentiles of the seconds from a delivery's first due time until it was delivered. The error is at most 9 %. */
export interface DeliveryTime {
  readonly p50: number
  readonly p90: number
  readonly p99: number
}

/** End of the first bucket in seconds. Bucket ends grow by a factor of two every four buckets (sql/0012_statistics.sql). */
const FIRST_END = 0.01
const PER_DOUBLING = 4
/** Number of buckets. The last one has no upper limit. */
export const BUCKETS = 110

/** Number of deliveries per bucket. */
export type Histogram = readonly number[]

/** Returns the percentiles of a histogram; null if nothing was delivered. */
export function deliveryTime(histogram: Histogram | null): DeliveryTime | null {
  const total = (histogram ?? []).reduce((sum, count) => sum + count, 0)
  if (!histogram || total === 0) return null
  return { p50: at(histogram, total * 0.5), p90: at(histogram, total * 0.9), p99: at(histogram, total * 0.99) }
}

/** Returns the middle of the bucket in which the sum of the counts reaches `rank`. */
function at(histogram: Histogram, rank: number): number {
  let sum = 0
  const bucket = histogram.findIndex((count) => (sum += count) >= rank)
  const middle = bucket === 0 ? FIRST_END : FIRST_END * 2 ** ((bucket - 0.5) / PER_DOUBLING)
  return Number(middle.toPrecision(3))
}
