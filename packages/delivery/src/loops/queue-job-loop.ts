import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

/** Processes the operator's jobs on the queue in chunks. Between two of them mail has the database for longer than a chunk takes. */
export function runQueueJobLoop({ core, log }: { core: Core; log: Log }): Loop {
  return runLoop({ name: 'queue job', log, act: () => core.queue.workSome(), every: 1000, breath: 100 })
}
