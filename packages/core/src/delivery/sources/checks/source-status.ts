import type { AnySql } from '../../../platform/database/database.ts'
import { type BlockList, unknown } from './block-lists.ts'
import type { RecordCheck } from './record-check.ts'
import { type Listing, readChecks, readListings, readNow } from './store.ts'

/** The results of a source's last checks. */
export interface SourceStatus {
  /** Empty if it has not been checked yet. */
  readonly records: readonly RecordCheck[]
  readonly checkedAt: Date | null
  /** One entry per address and block list; empty if it is not looked up in any. */
  readonly listings: readonly Listing[]
}

/** Milliseconds after which a result is no longer valid, because no worker has looked again. */
const OUTDATED_MS = 2 * 3_600_000

/** Returns the status of all sources, or of these, by id. */
export async function readStatuses(
  { sql, lists }: { readonly sql: AnySql; readonly lists: readonly BlockList[] },
  sourceIds?: readonly number[],
): Promise<Map<number, SourceStatus>> {
  const [now, checks, listings] = await Promise.all([
    readNow(sql),
    readChecks(sql, sourceIds),
    readListings(sql, sourceIds),
  ])
  const ofSource = Map.groupBy(listings, ({ sourceId }) => sourceId)
  return new Map(
    checks.map(({ sourceId, records, checkedAt }) => {
      const current = (ofSource.get(sourceId) ?? []).filter(({ list }) => lists.some(({ name }) => name === list))
      return [sourceId, { records, checkedAt, listings: current.map((listing) => upToDate(listing, now)) }]
    }),
  )
}

/** A result that is too old is unknown, but a listing stays until the list no longer has the address. */
function upToDate({ sourceId: _, ...listing }: Listing & { sourceId: number }, now: Date): Listing {
  const isOutdated = now.getTime() - listing.checkedAt.getTime() > OUTDATED_MS
  if (!isOutdated || listing.state === 'unknown') return listing
  const problem = `last looked up at ${listing.checkedAt.toISOString()}`
  return listing.state === 'clean' ? { ...listing, ...unknown(problem) } : { ...listing, problem }
}
