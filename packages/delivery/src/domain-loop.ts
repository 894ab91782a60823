import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

/** Domains of one round. */
const LIMIT = 20

/** Looks after sending domains whose records are due. Workers share the work; one that stops leaves its part to the others. */
export function runDomainLoop({ core, log }: { core: Core; log: Log }): Loop {
  const act = async (signal: AbortSignal) => (await core.domains.checkDue({ limit: LIMIT, signal })) === LIMIT
  return runLoop({ name: 'domain', log, act, every: 15_000, breath: 0 })
}
