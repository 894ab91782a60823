import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

const EVERY_MS = 600_000

/** Warns once a day of each domain that sends much to a receiver and lacks what it demands. Workers share the work. */
export function runGuardLoop({ core, log }: { core: Core; log: Log }): Loop {
  const act = async (): Promise<boolean> => {
    for (const { missing, ...alarm } of await core.guard.dueAlarms()) {
      const problems = missing.map(({ name, problem }) => `${name}: ${problem}`)
      log.warn({ ...alarm, problems }, 'a domain sends much to a receiver and lacks what it demands')
    }
    return false
  }
  return runLoop({ name: 'guard', log, act, every: EVERY_MS, breath: 0 })
}
