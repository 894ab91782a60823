import { type Log, pause, type QueuedMail, timerDelay } from '@postrider/core'
import { logTrouble } from '../common/log-trouble.ts'
import { claimParked } from './claim-parked.ts'
import { BATCH, DueClaims, type DueClaimsOptions, POLL_MS } from './due-claims.ts'
import { WakeOrder } from './wake-order.ts'

/** Pause in milliseconds after a small claim. */
const GROW_MS = 4
/** Milliseconds between checks for deliveries whose claim response was lost; after a failed claim, the check is immediate. */
const RECONCILE_EVERY_MS = 10_000

export interface ClaimLoop {
  /** Called when mail was queued. Without an argument if any flow may have mail. */
  wake(queued?: QueuedMail): void
  /** Called when a delivery is no longer in flight; causes a claim only if capacity was lacking. */
  capacityAppeared(): void
  stop(): Promise<void>
}

export interface ClaimLoopOptions extends DueClaimsOptions {
  readonly log: Log
  /** Ids of the workers that are alive. */
  readonly workers: () => readonly number[]
}

/** Claims due deliveries, as many as the dispatcher has capacity for, until stopped. */
export function runClaimLoop(options: ClaimLoopOptions): ClaimLoop {
  const { log, dispatcher, workerId, workers } = options
  const trouble = { readiness: options.core.readiness, log }
  const due = new DueClaims(options)
  const order = new WakeOrder(workerId, workers)
  let stopped = false
  let awake = false
  let looks = true
  let wakeUp: () => void = () => {}
  let reconcileAt = performance.now() + RECONCILE_EVERY_MS

  async function loop(): Promise<void> {
    while (!stopped) {
      awake = false
      try {
        if (performance.now() >= reconcileAt) await reconcile()
        await look()
        const claimed = await due.claim()
        // One destination at a time: 64 of them took up to 256 ms, and new mail of all waited.
        const hadParked = await claimParked(options)
        // A small claim costs nearly as much as a large one, so wait until more deliveries are due.
        if (claimed > 0 && claimed < BATCH / 2 && !hadParked) await pause(GROW_MS)
        if (claimed > 0 || hadParked || due.hasMore) continue
      } catch (err) {
        logTrouble(trouble, err, 'claim failed')
        reconcileAt = 0
      }
      await sleep()
    }
  }

  /** Its failure does not keep announced mail from being claimed. */
  async function look(): Promise<void> {
    const must = looks
    looks = false
    const looked = await due.look(must).catch((err: unknown) => {
      logTrouble(trouble, err, 'could not look for due mail')
      return false
    })
    looks ||= must && !looked
  }

  async function reconcile(): Promise<void> {
    await dispatcher.reconcile()
    reconcileAt = performance.now() + RECONCILE_EVERY_MS
  }

  function sleep(): Promise<void> {
    if (awake || stopped) return Promise.resolve()
    return new Promise((resolve) => {
      const until = performance.now() + POLL_MS
      let timer: NodeJS.Timeout
      const end = (): void => {
        wakeUp = () => {}
        resolve()
      }
      const wait = (): void => {
        timer = setTimeout(end, timerDelay(Math.min(until - performance.now(), due.nextIn)))
      }
      wait()
      wakeUp = () => {
        clearTimeout(timer)
        if (awake || stopped) end()
        else wait()
      }
    })
  }

  const finished = loop()
  const goOn = (): void => {
    awake = true
    wakeUp()
  }
  return {
    wake(queued) {
      if (!queued) looks = true
      const delays = queued?.flows.map((flow) => ({ flow, delay: order.delayOf(flow, queued.turn) })) ?? []
      due.know(delays.filter(({ delay }) => delay === 0).map(({ flow }) => flow))
      for (const { flow, delay } of delays) if (delay) due.knowLater(flow, delay)
      if (!queued || delays.some(({ delay }) => delay === 0)) goOn()
      else wakeUp()
    },
    capacityAppeared() {
      if (due.lackedCapacity || dispatcher.hasParked) goOn()
    },
    async stop() {
      stopped = true
      goOn()
      await finished
    },
  }
}
