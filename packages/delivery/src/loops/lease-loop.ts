import { type Core, count, isDatabaseAway, isDatabaseTrouble, type Log, type Result } from '@postrider/core'
import type { LeftNotes } from '../queue/answer-notes.ts'

/** Milliseconds between checks of the other workers. */
const CHECK_INTERVAL_MS = 1000
const RETRY_MS = 200
/** Noted answers that are recorded at once. */
const BATCH = 250

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
  /** The files of workers in DATA_DIR. */
  left: LeftNotes
  onTakenOver: () => void
  /** Called when the database has responded. */
  onAnswer: () => void
}): LeaseLoop {
  const { core, log, workerId, left, onTakenOver, onAnswer } = options
  const workers = core.deliveries.watchWorkers(workerId, {
    onSetAside: (messageId, recipientNo) =>
      log.fatal(
        { messageId, recipientNo },
        'delivery set aside: workers died while building it; see "postrider message show", then release or fail it',
      ),
    isGone: left.isGone,
    beforeTakeOver: recordNotes,
  })
  let stopped = false
  let isFirst = true

  /** Records the answers that dead workers have noted. Those that were recorded before are stale. */
  async function recordNotes(dead: readonly number[]): Promise<void> {
    for (const id of dead) {
      const results = left.of(id)
      let count = 0
      for (let at = 0; at < results.length; at += BATCH) count += await record(results.slice(at, at + BATCH))
      if (count > 0) log.warn({ count }, 'recorded answers that a dead worker had noted')
    }
  }

  /** Returns how many were recorded. Throws while the database has trouble: what is not recorded would be sent again. */
  async function record(results: readonly Result[]): Promise<number> {
    try {
      return (await core.deliveries.record(results)).filter(Boolean).length
    } catch (err) {
      if (isDatabaseTrouble(err)) throw err
      // Without it, this delivery is taken over as indeterminate. It must not fail the others.
      if (results.length === 1) {
        log.error({ err }, 'could not record an answer that a dead worker had noted')
        return 0
      }
      let count = 0
      for (const one of results) count += await record([one])
      return count
    }
  }

  /** Deletes the files of workers that were taken over, also those from before a restart of the host or container. */
  async function removeNotes(): Promise<void> {
    // A worker is registered before its file is there.
    const noted = left.workers()
    const registered = new Set((await core.deliveries.listWorkers()).map(({ id }) => id))
    for (const id of noted) if (!registered.has(id)) left.remove(id)
  }

  async function look(): Promise<void> {
    const taken = await workers.takeOver()
    onAnswer()
    if (taken > 0 || isFirst) await removeNotes()
    isFirst = false
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
