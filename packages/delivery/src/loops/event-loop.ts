import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

/**
 * Assigns sequence numbers to events and adds them to the rollups. Under load, a round processes the events of a second, so that
 * thousands of events share its cost.
 */
export function runEventLoop({ core, log }: { core: Core; log: Log }): Loop {
  return runLoop({ name: 'event', log, act: async () => (await core.events.sequence()).more, every: 1000, breath: 5 })
}
