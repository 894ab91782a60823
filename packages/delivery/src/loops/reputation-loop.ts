import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

/** Holds, slows or warns accounts whose figures require it. Workers share the work. */
export function runReputationLoop({ core, log }: { core: Core; log: Log }): Loop {
  const act = async (): Promise<boolean> => {
    const { changes, more } = await core.reputation.evaluateSome()
    for (const change of changes) log.warn(change, 'the standing of an account has changed')
    return more
  }
  return runLoop({ name: 'reputation', log, act, every: 5000, breath: 50 })
}
