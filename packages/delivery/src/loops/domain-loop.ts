import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

/** Maximum number of domains per round. */
const LIMIT = 20

/** Checks sending domains whose check is due. Workers share the work; when one stops, the others do its part. */
export function runDomainLoop({ core, log }: { core: Core; log: Log }): Loop {
  const act = async (signal: AbortSignal) => (await core.domains.checkDue({ limit: LIMIT, signal })) === LIMIT
  return runLoop({ name: 'domain', log, act, every: 15_000, breath: 0 })
}
