import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

/**
 * Gives events their numbers and adds them to the roll-ups. Under load a round takes what half a second brought, so that what
 * a round costs is shared by a thousand events.
 */
export function runEventLoop({ core, log }: { core: Core; log: Log }): Loop {
  return runLoop({ name: 'event', log, act: async () => (await core.events.sequence()).more, every: 500, breath: 5 })
}
