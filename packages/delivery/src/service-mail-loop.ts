import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

/** Passes letters on to the operator, and tells the owners of accounts that are warned, slowed or held. Workers share the work. */
export function runServiceMailLoop({ core, log }: { core: Core; log: Log }): Loop {
  const act = async (): Promise<boolean> => {
    const forwarded = await core.returns.forwardSome()
    if (forwarded?.problem !== undefined) {
      log.warn({ problem: forwarded.problem }, 'could not pass on a letter to the operator, will retry')
    }
    const notified = await core.reputation.notifySome()
    if (notified?.problem !== undefined) log.warn(notified, 'could not send a notice about an account, will retry')
    return [forwarded, notified].some((done) => done !== undefined && done.problem === undefined)
  }
  return runLoop({ name: 'service mail', log, act, every: 2000, breath: 20 })
}
