import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

/** Passes letters on to the operator. Workers share the work, one letter at a time. */
export function runServiceMailLoop({ core, log }: { core: Core; log: Log }): Loop {
  const act = async (): Promise<boolean> => {
    const forwarded = await core.returns.forwardSome()
    if (forwarded?.problem !== undefined) {
      log.warn({ problem: forwarded.problem }, 'could not pass on a letter to the operator, will retry')
    }
    return forwarded !== undefined && forwarded.problem === undefined
  }
  return runLoop({ name: 'service mail', log, act, every: 2000, breath: 20 })
}
