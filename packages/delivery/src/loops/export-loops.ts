import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

/** Maximum concurrent notifications per worker; a callback may take ten seconds. */
const MAX_NOTIFICATIONS = 32

/** Creates export files in parts, and notifies the accounts. The loops are separate, so that a slow callback delays no file. */
export function runExportLoops({ core, log }: { core: Core; log: Log }): Loop[] {
  return [
    runLoop({
      name: 'export',
      readiness: core.readiness,
      log,
      act: async () => (await core.pendingWork.has('export_jobs')) && core.exports.workSome(),
      every: 1000,
      breath: 20,
    }),
    runNoticeLoop({ core, log }),
  ]
}

function runNoticeLoop({ core, log }: { core: Core; log: Log }): Loop {
  const running = new Set<Promise<void>>()
  const loop = runLoop({
    name: 'export notice',
    readiness: core.readiness,
    log,
    async act(signal) {
      if (!(await core.pendingWork.has('export_jobs'))) return false
      while (!signal.aborted && running.size < MAX_NOTIFICATIONS) {
        const notify = await core.exports.nextTelling()
        if (!notify) break
        const notification = notify()
          .catch((err: unknown) => log.warn({ err }, 'export notification failed, will retry'))
          .finally(() => {
            running.delete(notification)
            loop.wake()
          })
        running.add(notification)
      }
      return false
    },
    every: 1000,
    breath: 20,
  })
  return {
    wake: loop.wake,
    async stop() {
      await loop.stop()
      await Promise.all(running)
    },
  }
}
