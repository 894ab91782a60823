import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config/config.ts'
import type { Sql } from '../platform/database/database.ts'
import { withPartitions } from '../platform/database/partitions.ts'
import type { Log } from '../platform/process/log.ts'
import type { Secrets } from '../platform/security/secrets.ts'
import type { Forgotten } from '../suppressions/forgotten.ts'
import { isWorkerAlive, listWorkers, registerWorker, type WorkerLease, type WorkerSummary } from './leases/lease.ts'
import { type HeldLease, holdLease, type LeaseOptions } from './leases/lease-thread.ts'
import { type LostWorkers, type WatchOptions, watchWorkers } from './leases/watch-workers.ts'
import {
  freeSlots,
  freeSlotsOfOthers,
  keepSlots,
  restoreSlots,
  type Slot,
  type SlotRequest,
  slotsSince,
  takeSlots,
} from './limits/connection-slots.ts'
import { createLimits, type DeliveryLimits } from './limits/index.ts'
import { finishOnly } from './outcomes/finish-only.ts'
import { type Result, recordOutcomes } from './outcomes/record.ts'
import { failSetAside, listSetAside, noteAlone, releaseSetAside, type SetAside } from './outcomes/set-aside.ts'
import { recipientHash } from './queue/account-holds.ts'
import { addProgress, type FlowProgress } from './queue/flow-progress.ts'
import { type DueFlow, dueFlows } from './queue/flows.ts'
import { type ParkedDelivery, type ParkedFlow, parkDeliveries, parkedFlows } from './queue/parking.ts'
import { watchPlans } from './queue/plans.ts'
import {
  type AttemptsSoFar,
  attemptsSoFar,
  type ClaimedDelivery,
  type ClaimOptions,
  claimDeliveries,
  claimedDeliveries,
  type DeliveryKey,
  type EndOfData,
  recordEndOfData,
  releaseDeliveries,
  type SendPermission,
} from './queue/queue.ts'
import { QUEUE_CHANNEL, type QueuedMail, readQueued, wake } from './queue/queue-channel.ts'
import { isUnreachedIndexed, type Reached, wakeUnreached } from './queue/wake-unreached.ts'
import { makeMark, type ReturnPathTarget, readMark } from './return-path.ts'

export { listWorkers, readHeartbeats, type WorkerLease, type WorkerSummary } from './leases/lease.ts'
export type { HeldLease } from './leases/lease-thread.ts'
export type { LostLease } from './leases/standstill.ts'
export type { LostWorkers } from './leases/watch-workers.ts'
export type { Slot, SlotRequest } from './limits/connection-slots.ts'
export { type DestinationLimits as PlaceLimits, effectiveLimits } from './limits/destination-limits.ts'
export { partsOfDestination as partsOfPlace, sourcedDestination as sourcedPlace } from './limits/destination-names.ts'
export type { Block } from './limits/judge-offers.ts'
export { MAX_REFUSED_RECIPIENTS, type Offers } from './limits/offers.ts'
export {
  ADAPTIVE_RULE,
  type LimitSetting,
  type NewOverride,
  OPERATOR_RULE,
  type Override,
  overridesFor,
  REFUSED_RULE,
} from './limits/overrides.ts'
export type { NewRefused, RefusedAs, RefusedAt, RefusedOverview } from './limits/refusals.ts'
export { BOUNCE_CLASSES, type BounceClass, bounceClass, HARD_CLASSES } from './outcomes/bounce-rules.ts'
export type * from './outcomes/outcome.ts'
export type { Result } from './outcomes/record.ts'
export { refusalClass } from './outcomes/refusal-class.ts'
export { GREYLISTED, type RefusalMeaning, refusalMeaning } from './outcomes/refusal-meaning.ts'
export { REPLY_MEANINGS, type ReplyMeaning, replyMeaning } from './outcomes/reply-meaning.ts'
export { isPerishable, lifetimeOf, retryAfterOf } from './outcomes/schedule.ts'
export { listSetAside, type SetAside } from './outcomes/set-aside.ts'
export type { BackOffRule, RuleEffect } from './providers/back-off-rule.ts'
export type { Provider } from './providers/provider-file.ts'
export { defaultProviders, loadProviders, type Providers, readProviders } from './providers/providers.ts'
export { ProvidersError } from './providers/providers-error.ts'
export type { MessageRate } from './providers/units.ts'
export {
  type AccountHold,
  domainOfPlace,
  HELD_ONE_CLICK_PLACE,
  HELD_PLACE,
  HELD_RECIPIENT_PLACE,
  HOLD_LEVELS,
  type HoldLevel,
  heldDomainPlace,
  isHeldDestination as isHeldPlace,
  type RecipientHold,
} from './queue/account-holds.ts'
export type { FlowProgress } from './queue/flow-progress.ts'
export type { Flow, FlowShare } from './queue/flows.ts'
export { hasMoreParked, type ParkedDelivery, type ParkedFlow, type WaitingFor } from './queue/parking.ts'
export type { ClaimedDelivery, DeliveryKey, EndOfData, SendPermission } from './queue/queue.ts'
export { type Announcer, createAnnouncer, QUEUE_CHANNEL, type QueuedMail } from './queue/queue-channel.ts'
export type { RequirementHolds as StoredRequirementHolds } from './queue/requirement-holds.ts'
export { DELIVERY_STATES, type DeliveryState } from './queue/states.ts'

export interface Deliveries {
  /** See lease.ts. */
  register(worker: { host: string; pid: number }): Promise<WorkerLease>
  /** Registers a worker whose heartbeats a thread sends as long as the worker makes progress. See lease-thread.ts. */
  hold(options: Omit<LeaseOptions, 'databaseUrl' | 'log'>): Promise<HeldLease>
  watchWorkers(own?: number, options?: WatchOptions): LostWorkers
  /** Whether a worker on this host is alive. */
  isAlive(host: string): Promise<boolean>
  /** See lease.ts. */
  listWorkers(): Promise<WorkerSummary[]>
  /** See flows.ts. */
  dueFlows(): Promise<DueFlow[]>
  /** See queue.ts. */
  claim(options: ClaimOptions): Promise<ClaimedDelivery[]>
  release(workerId: number, deliveries: readonly DeliveryKey[], seconds: number): Promise<void>
  held(workerId: number): Promise<DeliveryKey[]>
  /** See parking.ts. */
  park(workerId: number, deliveries: readonly ParkedDelivery[]): Promise<void>
  parkedFlows(after?: ParkedFlow): Promise<ParkedFlow[]>
  /** See wake-unreached.ts. */
  wakeUnreached(reached: readonly Reached[]): Promise<number>
  isUnreachedIndexed(): Promise<boolean>
  /** See limits/index.ts. */
  readonly limits: DeliveryLimits
  /** See flow-progress.ts. */
  addProgress(progress: readonly FlowProgress[]): Promise<void>
  /** See connection-slots.ts. */
  readonly slots: {
    take(workerId: number, requests: readonly SlotRequest[]): Promise<Slot[]>
    free(workerId: number, slots: readonly Slot[]): Promise<void>
    since(): Promise<string>
    restore(workerId: number, slots: readonly Slot[]): Promise<void>
    keep(workerId: number, slots: readonly Slot[]): Promise<void>
    freeThoseOfOthers(): Promise<void>
  }
  /** Whether an attempt of the delivery got beyond the beginning of a session. */
  attemptsSoFar(messageId: string, recipientNo: number): Promise<AttemptsSoFar>
  recordEndOfData(ends: readonly EndOfData[]): Promise<SendPermission[]>
  /** See set-aside.ts. */
  noteAlone(workerId: number, now: DeliveryKey | undefined, before: DeliveryKey | undefined): Promise<void>
  setAside(): Promise<SetAside[]>
  releaseSetAside(messageId: string): Promise<number>
  failSetAside(messageId: string): Promise<number>
  /** See record.ts. */
  record(results: readonly Result[]): Promise<boolean[]>
  /** See finish-only.ts. */
  finishOnly(result: Result): Promise<boolean>
  /**
   * Returns the local part of a delivery's signed return path. Its validity counts from `since` (milliseconds since 1970), when
   * the message was first due. It is the same for every attempt, because greylisting servers identify a sender by it.
   */
  returnPath(target: ReturnPathTarget, since: number): string
  /** Returns the delivery's mark for X-PR-Ref, in the same way. */
  reference(target: ReturnPathTarget, since: number): string
  /** See account-holds.ts. */
  recipientHash(recipient: string): string
  /** The name of this installation in Feedback-ID. */
  readonly feedbackSender: string
  /** Returns the delivery that a return path identifies; undefined if it is forged, altered or too old. */
  readReturnPath(local: string): ReturnPathTarget | undefined
  /**
   * Calls back when mail is queued, with the flows it belongs to. Without them if any flow may have mail: there were too many to name,
   * or the connection is new and notifications may have been missed.
   */
  listen(onQueued: (queued?: QueuedMail) => void): Promise<{ close(): Promise<void> }>
}

export interface DeliveriesDependencies {
  readonly sql: Sql
  readonly log: Log
  readonly config: Pick<Config, 'databaseUrl' | 'hardBounceDays' | 'feedbackSenderId' | 'requirements'>
  readonly secrets: Secrets
  readonly clock: Clock
  readonly forgotten: Forgotten
}

export function createDeliveries({ sql, log, config, secrets, clock, forgotten }: DeliveriesDependencies): Deliveries {
  const watched = watchPlans(sql)
  // The database is open by now, so the URL is set.
  const { databaseUrl = '', hardBounceDays, feedbackSenderId } = config
  let feedbackSender = feedbackSenderId
  return {
    register: (worker) => registerWorker(sql, worker),
    hold: (options) => holdLease({ ...options, databaseUrl, log }),
    watchWorkers: (own, options) => watchWorkers(sql, clock.monotonic, own, options),
    isAlive: (host) => isWorkerAlive(sql, host),
    listWorkers: () => listWorkers(sql),
    dueFlows: () => watched(() => dueFlows(sql)),
    claim: async (options) => withForgotten(await watched(() => claimDeliveries(sql, options)), forgotten),
    release: (workerId, deliveries, seconds) => releaseDeliveries(sql, workerId, deliveries, seconds),
    held: (workerId) => claimedDeliveries(sql, workerId),
    async park(workerId, deliveries) {
      await parkDeliveries(sql, workerId, deliveries)
      // For the workers that have the source.
      if (deliveries.some(({ waitingFor }) => waitingFor === 'source')) await wake(sql, '').catch(() => {})
    },
    wakeUnreached: (reached) => watched(() => wakeUnreached(sql, reached)),
    isUnreachedIndexed: () => isUnreachedIndexed(sql),
    parkedFlows: (after) => watched(() => parkedFlows(sql, after)),
    limits: createLimits(sql, config),
    addProgress: (progress) => addProgress(sql, progress),
    slots: {
      take: (workerId, requests) => takeSlots(sql, workerId, requests),
      free: (workerId, slots) => freeSlots(sql, workerId, slots),
      since: () => slotsSince(sql),
      restore: (workerId, slots) => restoreSlots(sql, workerId, slots),
      keep: (workerId, slots) => keepSlots(sql, workerId, slots),
      freeThoseOfOthers: () => freeSlotsOfOthers(sql),
    },
    attemptsSoFar: (messageId, recipientNo) => attemptsSoFar(sql, messageId, recipientNo),
    recordEndOfData: (ends) => recordEndOfData(sql, ends),
    noteAlone: (workerId, now, before) => noteAlone(sql, workerId, now, before),
    setAside: () => listSetAside(sql),
    releaseSetAside: (messageId) => releaseSetAside(sql, messageId),
    failSetAside: (messageId) => failSetAside(sql, messageId),
    record: (results) =>
      watched(() => withPartitions(sql, () => recordOutcomes(sql, results, { hardBounceDays, log }))),
    finishOnly: (result) => finishOnly(sql, result),
    returnPath: (target, since) => makeMark(secrets, 'returnPath', target, since),
    reference: (target, since) => makeMark(secrets, 'reference', target, since),
    recipientHash: (recipient) => recipientHash(secrets, recipient),
    // The same for every host of the installation.
    get feedbackSender() {
      return (feedbackSender ||= `pr${secrets.pseudonym('feedback sender', Buffer.alloc(0)).toString('hex', 0, 4)}`)
    },
    readReturnPath: (local) => readMark(secrets, 'returnPath', { local, now: clock.now() }),
    async listen(onQueued) {
      const listening = await sql.listen(
        QUEUE_CHANNEL,
        (payload) => onQueued(readQueued(payload)),
        () => onQueued(),
      )
      return { close: listening.unlisten }
    },
  }
}

/** Adds the suppressions of recipients whose opt-outs are stored only as hashes, because the recipients were erased. */
async function withForgotten(claimed: ClaimedDelivery[], forgotten: Forgotten): Promise<ClaimedDelivery[]> {
  const accounts = await forgotten.accounts()
  if (accounts.size === 0 || !claimed.some(({ accountId }) => accounts.has(accountId))) return claimed
  const reasons = await forgotten.reasons(
    claimed.map(({ accountId, recipient, groupId, bypass }) => ({
      accountId,
      key: recipient.toLowerCase(),
      group: groupId,
      bypass,
    })),
  )
  return claimed.map((delivery, at) => ({ ...delivery, suppression: delivery.suppression ?? reasons[at] ?? null }))
}
