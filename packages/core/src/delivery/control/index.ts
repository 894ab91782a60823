import { type Actor, OPERATOR } from '../../accounts/audit/index.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Sql } from '../../platform/database/database.ts'
import { loadProviders } from '../providers/providers.ts'
import type { QueueGrouping } from './count-groups.ts'
import type { FinishedSource } from './finished.ts'
import type { QueueAction } from './job-filter.ts'
import { type ConfirmProblem, confirmJob, type JobPlan, planJob } from './job-plan.ts'
import { workOnJob } from './job-work.ts'
import { findJob, forgetJobs, listJobs, type QueueJob, stopJob } from './jobs.ts'
import { type OverviewQuery, type QueueOverview, readOverview } from './overview.ts'
import { type NewPause, type PauseResult, type PauseTarget, pauseDestination, resumeDestination } from './pauses.ts'
import { createRecentOverviews, type RecentOverview } from './recent-overview.ts'
import { readSelectors, type Selectors } from './selectors.ts'
import { type DestinationDetails, isKnownDestination, showDestination } from './show-destination.ts'
import { readSlowest, type SlowDestination } from './slowest.ts'

export { MAX_COUNTED, QUEUE_GROUPINGS, type QueueGrouping } from './count-groups.ts'
export { type DrainTime, drainTimes } from './drain-times.ts'
export { readDuration } from './duration.ts'
export { LEFT_OUT, type LeftOut } from './finished.ts'
export { type JobFilter, QUEUE_ACTIONS, type QueueAction } from './job-filter.ts'
export { type ConfirmProblem, confirmProblemText, type JobPlan } from './job-plan.ts'
export type { QueueJob } from './jobs.ts'
export { type BoundedCount, type GroupLimits, OVERVIEW_LIMIT, type QueueGroup, type QueueOverview } from './overview.ts'
export { type NewPause, PAUSE_SECONDS, type PauseResult, type PauseTarget } from './pauses.ts'
export type { RecentOverview } from './recent-overview.ts'
export { hasSelectors, type Selectors } from './selectors.ts'
export { createServiceTimes, type ServiceTime, type ServiceTimes, type TimeChange } from './service-time.ts'
export type { DestinationDetails as PlaceDetails, LimitInEffect } from './show-destination.ts'
export type { SlowDestination } from './slowest.ts'

/** The operator's view of the queue, and changes to it. */
export interface QueueControl {
  /** See overview.ts. */
  overview(query: OverviewQuery): Promise<QueueOverview>
  /** See recent-overview.ts. */
  recentOverview(by: QueueGrouping): Promise<RecentOverview>
  /** See slowest.ts. */
  slowest(limit: number): Promise<SlowDestination[]>
  /** See show-destination.ts. */
  destination(name: string): Promise<DestinationDetails | undefined>
  /** See pauses.ts. */
  pause(pause: NewPause, by?: Actor): Promise<PauseResult>
  resume(target: PauseTarget, options: { readonly rules: boolean; readonly by?: Actor }): Promise<string[]>
  /** See job-plan.ts. Throws parameterInvalid and parameterMissing (the selectors). */
  plan(action: QueueAction, selectors: Selectors): Promise<JobPlan>
  confirm(id: number, action: QueueAction, by?: Actor): Promise<QueueJob | ConfirmProblem>
  /** See jobs.ts. */
  jobs(): Promise<QueueJob[]>
  job(id: number): Promise<QueueJob | undefined>
  stop(id: number, by?: Actor): Promise<QueueJob | undefined>
  /** See job-work.ts. */
  workSome(): Promise<boolean>
  forgetOld(): Promise<number>
}

export interface QueueControlDependencies {
  readonly sql: Sql
  readonly config: Config
  readonly finished: FinishedSource
}

export function createQueueControl({ sql, config, finished }: QueueControlDependencies): QueueControl {
  const { siteConnections, bodyDays } = config
  const dependencies = () => ({
    sql,
    finished,
    siteConnections,
    bodyDays,
    providers: loadProviders(config.providersFile),
  })
  const recent = createRecentOverviews((query) => readOverview(dependencies(), query))
  return {
    overview: (query) => readOverview(dependencies(), query),
    recentOverview: recent.get,
    slowest: (limit) => readSlowest(sql, limit),
    destination: (name) => showDestination(dependencies(), name),
    async pause(pause, by = OPERATOR) {
      const known = await isKnownDestination(dependencies(), pause.place)
      const { place, accountId } = pause
      const set = await pauseDestination(sql, pause, by)
      recent.forget()
      return { place, accountId, ...set, known }
    },
    async resume(target, { rules, by = OPERATOR }) {
      const ended = await resumeDestination(sql, target, { rules, by })
      recent.forget()
      return ended
    },
    plan: async (action, selectors) =>
      planJob(dependencies(), action, await readSelectors(dependencies(), action, selectors)),
    confirm: (id, action, by = OPERATOR) => confirmJob(dependencies(), id, { action, by }),
    jobs: () => listJobs(sql),
    job: (id) => findJob(sql, id),
    stop: (id, by = OPERATOR) => stopJob(sql, id, by),
    workSome: () => workOnJob(sql, finished),
    forgetOld: () => forgetJobs(sql),
  }
}
