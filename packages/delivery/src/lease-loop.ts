import { BEAT_EVERY, type Core, isDatabaseAway, type Log, type WorkerLease } from '@postrider/core'

/** Milliseconds between looks at the other workers. */
const LOOK_EVERY = 1000

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
  const workers = core.deliveries.watchWorkers()
  const beating = repeat(BEAT_EVERY, async () => {
    if (!(await lease.beat())) onLost()
  })
  const looking = repeat(LOOK_EVERY, async () => {
    const count = await workers.takeOver()
    if (count === 0) return
    log.warn({ count }, 'took over from a lost worker')
    onTakenOver()
  })

  function repeat(every: number, act: () => Promise<void>): { stop(): void } {
    let running = false
    const timer = setInterval(() => {
      if (running) return
      running = true
      act()
        .catch((err) => {
          if (!isDatabaseAway(err)) log.error({ err }, 'lease loop failed')
        })
        .finally(() => {
          running = false
        })
    }, every)
    return { stop: () => clearInterval(timer) }
  }

  return {
    stop() {
      beating.stop()
      looking.stop()
    },
  }
}
