import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

/** Works on requests to forget people, a batch at a time. */
export function runPrivacyLoop({ core, log }: { core: Core; log: Log }): Loop {
  return runLoop({ name: 'privacy', log, act: () => core.privacy.forgetSome(), every: 1000, breath: 5 })
}
