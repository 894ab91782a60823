import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

/**
 * Gives events their numbers and adds them to the roll-ups. Under load a round takes what a second brought, so that what a
 * round costs is shared by thousands of events.
 */
export function runEventLoop({ core, log }: { core: Core; log: Log }): Loop {
  return runLoop({ name: 'event', log, act: async () => (await core.events.sequence()).more, every: 1000, breath: 5 })
}
