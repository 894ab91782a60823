import { createCache } from '../../platform/cache.ts'
import type { QueueGrouping } from './count-groups.ts'
import { OVERVIEW_LIMIT, type QueueOverview } from './overview.ts'

/** An overview of all groups that several readers share. */
export interface RecentOverview extends QueueOverview {
  /** When it was read. */
  readonly readAt: Date
}

/** Milliseconds for which readers share an overview: one of a long queue reads 250,000 rows. */
const MAX_AGE_MS = 8000

/** The queue by groups, as it was at most 8 s ago. However many pages show it, a process reads it about twice in this time for each grouping. */
export interface RecentOverviews {
  get(by: QueueGrouping): Promise<RecentOverview>
  /** Makes the next reader see a change that was made now. */
  forget(): void
}

export function createRecentOverviews(
  read: (query: { readonly by: QueueGrouping; readonly limit: number }) => Promise<QueueOverview>,
  now: () => number,
): RecentOverviews {
  const overviews = createCache<RecentOverview>({
    maxAge: MAX_AGE_MS,
    maxEntries: 10,
    load: async (by) => ({
      readAt: new Date(now()),
      ...(await read({ by: by as QueueGrouping, limit: OVERVIEW_LIMIT.most })),
    }),
  })
  return { get: async (by) => overviews.get(by), forget: () => overviews.forget() }
}
