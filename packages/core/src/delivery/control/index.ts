import { type Actor, OPERATOR } from '../../accounts/audit/index.ts'
import type { Config } from '../../platform/config.ts'
import type { Sql } from '../../platform/database/database.ts'
import { loadProviders } from '../providers/providers.ts'
import type { QueueGrouping } from './count-groups.ts'
import { type QueueOverview, readOverview } from './overview.ts'
import { type NewPause, type PauseTarget, pausePlace, resumePlace } from './pauses.ts'
import { type PlaceDetails, showPlace } from './show-place.ts'

export { MAX_COUNTED, QUEUE_GROUPINGS, type QueueGrouping } from './count-groups.ts'
export type { BoundedCount, GroupLimits, QueueGroup, QueueOverview } from './overview.ts'
export { type NewPause, PAUSE_SECONDS, type PauseTarget } from './pauses.ts'
export type { LimitInEffect, PlaceDetails } from './show-place.ts'

/** The operator's view of the queue, and changes to it. */
export interface QueueControl {
  /** See overview.ts. */
  overview(query: { readonly by: QueueGrouping; readonly limit: number }): Promise<QueueOverview>
  /** See show-place.ts. */
  place(name: string): Promise<PlaceDetails | undefined>
  /** See pauses.ts. */
  pause(pause: NewPause, by?: Actor): Promise<Date>
  resume(target: PauseTarget, options: { readonly rules: boolean; readonly by?: Actor }): Promise<string[]>
}

export function createQueueControl({ sql, config }: { readonly sql: Sql; readonly config: Config }): QueueControl {
  const { siteConnections } = config
  const dependencies = () => ({ sql, siteConnections, providers: loadProviders(config.providersFile) })
  return {
    overview: (query) => readOverview(dependencies(), query),
    place: (name) => showPlace(dependencies(), name),
    pause: (pause, by = OPERATOR) => pausePlace(sql, pause, by),
    resume: (target, { rules, by = OPERATOR }) => resumePlace(sql, target, { rules, by }),
  }
}
