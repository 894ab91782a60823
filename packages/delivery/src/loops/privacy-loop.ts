import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

/** Processes requests for erasure in batches. */
export function runPrivacyLoop({ core, log }: { core: Core; log: Log }): Loop {
  return runLoop({ name: 'privacy', log, act: () => core.privacy.forgetSome(), every: 1000, breath: 5 })
}
