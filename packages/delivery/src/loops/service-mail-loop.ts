import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

/**
 * Passes letters on to the operator, tells the owners of accounts that are warned, slowed or held, and those of accounts whose credit is running
 * low. Workers share the work.
 */
export function runServiceMailLoops({ core, log }: { core: Core; log: Log }): Loop[] {
  const send = async (): Promise<boolean> => {
    const forwarded = await core.returns.forwardSome()
    if (forwarded?.problem !== undefined) {
      log.warn({ problem: forwarded.problem }, 'could not pass on a letter to the operator, will retry')
    }
    const notified = await core.reputation.notifySome()
    if (notified?.problem !== undefined) log.warn(notified, 'could not send a notice about an account, will retry')
    return [forwarded, notified].some((done) => done !== undefined && done.problem === undefined)
  }
  const watchCredit = async (): Promise<boolean> => {
    await core.people.creditNotices.findSome()
    const told = await core.people.creditNotices.sendSome()
    if (told?.problem !== undefined) log.warn(told, 'could not send a notice about credit, will retry')
    return told !== undefined
  }
  return [
    runLoop({ name: 'service mail', log, act: send, every: 2000, breath: 20 }),
    runLoop({ name: 'credit notice', log, act: watchCredit, every: 10_000, breath: 20 }),
  ]
}
