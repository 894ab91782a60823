import { BEAT_EVERY, type Core, isDatabaseAway, type Log, type WorkerLease } from '@postrider/core'

/** Milliseconds between looks at the other workers. */
const LOOK_EVERY = 1000
/** Milliseconds after a beat that failed: the lock went with its session, and must be back before others count us dead. */
const AGAIN_AFTER = 200

/**
 * Proves that this worker lives, and takes over from those that don't. `onLost` is called when another worker has taken over
 * from this one: nothing in its hands is its own any more.
 */
export function runLeaseLoop(options: {
  core: Core
  log: Log
  lease: WorkerLease
  onLost: () => void
  onTakenOver: () => void
}): { stop(): void } {
  const { core, log, lease, onLost, onTakenOver } = options
  const workers = core.deliveries.watchWorkers(lease.workerId)
  let stopped = false

  void repeat(BEAT_EVERY, async () => {
    if (!(await lease.beat())) onLost()
  })
  void repeat(LOOK_EVERY, async () => {
    const count = await workers.takeOver()
    if (count === 0) return
    log.warn({ count }, 'took over from a lost worker')
    onTakenOver()
  })

  async function repeat(every: number, act: () => Promise<void>): Promise<void> {
    while (!stopped) {
      const failed = await act().then(
        () => false,
        (err: unknown) => {
          if (!stopped && !isDatabaseAway(err)) log.error({ err }, 'lease loop failed')
          return true
        },
      )
      await new Promise((resolve) => setTimeout(resolve, failed ? AGAIN_AFTER : every).unref())
    }
  }

  return {
    stop() {
      stopped = true
    },
  }
}
