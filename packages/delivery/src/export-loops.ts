import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

/** Makes the files that accounts asked for, a part at a time, and tells of them. Apart: a slow callback holds up no file. */
export function runExportLoops({ core, log }: { core: Core; log: Log }): Loop[] {
  return [
    runLoop({ name: 'export', log, act: () => core.exports.workSome(), every: 1000, breath: 20 }),
    runLoop({ name: 'export notice', log, act: () => core.exports.tellSome(), every: 1000, breath: 20 }),
  ]
}
