import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

/** Moves the warm-up of new sources to the next day of their plans, by the results of the day that has ended. */
export function runWarmUpLoop({ core, log }: { core: Core; log: Log }): Loop {
  return runLoop({
    name: 'warm-up',
    log,
    act: async () => (await core.sources.advanceWarmUps()) > 0,
    every: 10_000,
    breath: 100,
  })
}
