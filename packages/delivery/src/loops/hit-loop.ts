import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

/** Classifies hits on pixels and links, and creates events from them. */
export function runHitLoop({ core, log }: { core: Core; log: Log }): Loop {
  return runLoop({ name: 'hit', log, act: () => core.tracking.classify(), every: 500, breath: 5 })
}
