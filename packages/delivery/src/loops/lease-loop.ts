import { type Core, count, isDatabaseAway, type Log } from '@postrider/core'

/** Milliseconds between checks of the other workers. */
const CHECK_INTERVAL_MS = 1000
const RETRY_MS = 200

export interface LeaseLoop {
  /** Ids of the workers that are alive. */
  living(): readonly number[]
  stop(): void
}

/** Takes over the deliveries of dead workers. A thread keeps this worker's own lease (core/delivery/lease-thread.ts). */
export function runLeaseLoop(options: {
  core: Core
  log: Log
  workerId: number
  onTakenOver: () => void
  /** Called when the database has responded. */
  onAnswer: () => void
}): LeaseLoop {
  const { core, log, workerId, onTakenOver, onAnswer } = options
  const workers = core.deliveries.watchWorkers(workerId, (messageId, recipientNo) =>
    log.fatal(
      { messageId, recipientNo },
      'delivery set aside: workers died while building it; see "postrider message show", then release or fail it',
    ),
  )
  let stopped = false

  async function look(): Promise<void> {
    const taken = await workers.takeOver()
    onAnswer()
    if (taken === 0) return
    log.warn({ count: taken }, 'took over from a dead worker')
    count('takeovers_total', {}, taken)
    onTakenOver()
  }

  async function repeat(): Promise<void> {
    while (!stopped) {
      const failed = await look().then(
        () => false,
        (err: unknown) => {
          if (!isDatabaseAway(err)) onAnswer()
          if (!stopped && !isDatabaseAway(err)) log.error({ err }, 'lease loop failed')
          return true
        },
      )
      await new Promise((resolve) => setTimeout(resolve, failed ? RETRY_MS : CHECK_INTERVAL_MS).unref())
    }
  }

  void repeat()
  return {
    living: () => workers.living,
    stop() {
      stopped = true
    },
  }
}
