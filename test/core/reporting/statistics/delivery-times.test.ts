import t from 'tap'
import { makeService } from '../../../helpers/service.ts'

const LARGEST = 2 ** 31 - 1
const { sql } = await makeService(t)

/** The sums by place, of counts that are as long as the longer of the two. */
function added(one: readonly number[], other: readonly number[]): number[] {
  return Array.from({ length: Math.max(one.length, other.length) }, (_none, at) =>
    Math.min((one[at] ?? 0) + (other[at] ?? 0), LARGEST),
  )
}

t.test('delivery times are added by place, whether of one delivery or of many', async (t) => {
  const many = [3, 0, 2, 0, 7]
  const counts = [[1], [0, 0, 1], [0, 0, 5], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 1], many, [1, 1], [0, 0, LARGEST], []]
  for (const one of counts)
    for (const other of counts) {
      const [row] = await sql<{ sum: number[] }[]>`select add_counts(${one}::int[], ${other}::int[]) as sum`
      t.strictSame(row?.sum, added(one, other), `${one} and ${other}`)
    }
  const [none] = await sql`
    select add_counts(null, ${many}::int[]) as first, add_counts(${many}::int[], null) as second, add_counts(null, null) as both`
  t.strictSame({ ...none }, { first: many, second: many, both: null })
})

t.test('deliveries are counted by bucket, whether one or many', async (t) => {
  for (const buckets of [[1], [5], [110], [2, 2], [3, 1, 3], [110, 1]]) {
    const [row] = await sql<{ counts: number[] }[]>`select count_buckets(${buckets}::int[]) as counts`
    const counts = new Array(Math.max(...buckets)).fill(0)
    for (const bucket of buckets) counts[bucket - 1]++
    t.strictSame(row?.counts, counts, `${buckets}`)
  }
  const [none] = await sql`select count_buckets(null) as counts`
  t.equal(none?.counts, null)
})
