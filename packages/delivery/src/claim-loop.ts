import type { Core, Log } from '@postrider/core'
import type { Dispatcher } from './dispatcher.ts'

/** Maximum number of deliveries per claim. */
const BATCH = 200
/** Milliseconds after which the queue is read even without a notification. */
const POLL_MS = 1000
/** Milliseconds between claims that start at the head of the queue, for deliveries that became visible before the cursor. */
const HEAD_EVERY_MS = 3000
/** Milliseconds by which the cursor lags the last claim: accepts commit shortly after the time their deliveries are due. */
const CURSOR_LAG_MS = 1000
/** Pause in milliseconds after a small claim. */
const GROW_MS = 4
/** Milliseconds between checks for deliveries whose claim response was lost; after a failed claim, the check is immediate. */
const RECONCILE_EVERY_MS = 10_000
/** Maximum number of a site's domains in one claim. */
const DOMAINS = 500

export interface ClaimLoop {
  /** Called when mail was queued. */
  wake(): void
  /** Called when a delivery is no longer in flight; causes a claim only if capacity was lacking. */
  roomAppeared(): void
  stop(): Promise<void>
}

export interface ClaimLoopOptions {
  readonly core: Core
  readonly log: Log
  readonly workerId: number
  readonly dispatcher: Dispatcher
  /** Called when the database has responded to a claim. */
  readonly onAnswer: () => void
}

/** Claims due deliveries, as many as the dispatcher has capacity for, until stopped. */
export function runClaimLoop({ core, log, workerId, dispatcher, onAnswer }: ClaimLoopOptions): ClaimLoop {
  let stopped = false
  let awake = false
  let wakeUp: () => void = () => {}
  let cursor: number | undefined
  let headAt = 0
  let lackedCapacity = false
  let reconcileAt = performance.now() + RECONCILE_EVERY_MS

  async function loop(): Promise<void> {
    while (!stopped) {
      awake = false
      try {
        if (performance.now() >= reconcileAt) await reconcile()
        const claimed = (await claimDue()) + (await claimForSites())
        // A small claim costs nearly as much as a large one, so wait until more deliveries are due.
        if (claimed > 0 && claimed < BATCH / 2) await pause(GROW_MS)
        if (claimed > 0) continue
      } catch (err) {
        log.warn({ err }, 'claim failed')
        reconcileAt = 0
      }
      await sleep()
    }
  }

  async function reconcile(): Promise<void> {
    await dispatcher.reconcile()
    reconcileAt = performance.now() + RECONCILE_EVERY_MS
  }

  async function claimDue(): Promise<number> {
    const room = dispatcher.room
    // A few free slots are not worth a claim: more are freed shortly.
    lackedCapacity = room < BATCH / 4
    if (lackedCapacity) return 0
    const now = performance.now()
    const fromHead = cursor === undefined || now - headAt >= HEAD_EVERY_MS
    if (fromHead) headAt = now
    const claimed = await core.deliveries.claim({
      workerId,
      limit: Math.min(room, BATCH),
      dueFrom: fromHead ? undefined : cursor,
      exceptDomains: dispatcher.fullDomains(),
    })
    onAnswer()
    const latest = claimed.reduce((most, { dueAt }) => Math.max(most, dueAt), 0)
    if (latest > 0) cursor = Math.max(cursor ?? 0, latest - CURSOR_LAG_MS)
    if (claimed.length > 0) await dispatcher.take(claimed)
    return claimed.length
  }

  async function claimForSites(): Promise<number> {
    let sum = 0
    for (const { site, room } of dispatcher.hungrySites()) {
      if (dispatcher.room < room) break
      const claimed = await core.deliveries.claim({
        workerId,
        limit: room,
        onlyDomains: mostRecent(site.domains),
      })
      // The database has no more mail for this site: from now on it is claimed with that of all sites.
      if (claimed.length < room) dispatcher.caughtUp(site)
      if (claimed.length > 0) await dispatcher.take(claimed)
      sum += claimed.length
    }
    return sum
  }

  function sleep(): Promise<void> {
    if (awake || stopped) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, POLL_MS)
      wakeUp = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  const finished = loop()
  const wake = (): void => {
    awake = true
    wakeUp()
  }
  return {
    wake,
    roomAppeared() {
      if (lackedCapacity || dispatcher.isBacklogged) wake()
    },
    async stop() {
      stopped = true
      wake()
      await finished
    },
  }
}

function mostRecent(domains: ReadonlySet<string>): string[] {
  return [...domains].slice(-DOMAINS)
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
