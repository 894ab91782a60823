import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

/** Judges what arrived at pixels and links, and makes events of it. */
export function runHitLoop({ core, log }: { core: Core; log: Log }): Loop {
  return runLoop({ name: 'hit', log, act: () => core.tracking.judge(), every: 500, breath: 5 })
}
