import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

/** Accounts told of their files at a time by one worker; each may take ten seconds to listen. */
const TELLINGS = 32

/** Makes the files that accounts asked for, a part at a time, and tells of them. Apart: a slow callback holds up no file. */
export function runExportLoops({ core, log }: { core: Core; log: Log }): Loop[] {
  return [
    runLoop({ name: 'export', log, act: () => core.exports.workSome(), every: 1000, breath: 20 }),
    runNoticeLoop({ core, log }),
  ]
}

function runNoticeLoop({ core, log }: { core: Core; log: Log }): Loop {
  const running = new Set<Promise<void>>()
  const loop = runLoop({
    name: 'export notice',
    log,
    async act(signal) {
      while (!signal.aborted && running.size < TELLINGS) {
        const tell = await core.exports.nextTelling()
        if (!tell) break
        const telling = tell()
          .catch((err: unknown) => log.warn({ err }, 'an export was not told of, and will be'))
          .finally(() => {
            running.delete(telling)
            loop.wake()
          })
        running.add(telling)
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
