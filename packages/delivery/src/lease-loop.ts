import { type Core, isDatabaseAway, type Log } from '@postrider/core'

/** Milliseconds between looks at the other workers. */
const LOOK_EVERY = 1000
const AGAIN_AFTER = 200

/** Takes over from workers that don't live. That this one does is proved by a thread (core/delivery/lease-thread.ts). */
export function runLeaseLoop(options: {
  core: Core
  log: Log
  workerId: number
  onTakenOver: () => void
  /** The database has answered. */
  onAnswer: () => void
}): { stop(): void } {
  const { core, log, workerId, onTakenOver, onAnswer } = options
  const workers = core.deliveries.watchWorkers(workerId, (messageId, recipientNo) =>
    log.fatal(
      { messageId, recipientNo },
      'a delivery is set aside: workers were lost while they wrote it; see "postrider message show", then release or fail it',
    ),
  )
  let stopped = false

  async function look(): Promise<void> {
    const count = await workers.takeOver()
    onAnswer()
    if (count === 0) return
    log.warn({ count }, 'took over from a lost worker')
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
      await new Promise((resolve) => setTimeout(resolve, failed ? AGAIN_AFTER : LOOK_EVERY).unref())
    }
  }

  void repeat()
  return {
    stop() {
      stopped = true
    },
  }
}
