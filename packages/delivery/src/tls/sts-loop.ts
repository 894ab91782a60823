import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from '../loop.ts'

/** Maximum number of policies per round. */
const LIMIT = 20
const EVERY_MS = 300_000

/** Milliseconds between two checks that DNSSEC_RESOLVER validates. */
const CHECK_EVERY_MS = 3_600_000

/** Checks at the beginning, and each hour, whether the resolver validates; a change is logged. */
export function runDnssecLoop({ core, log }: { core: Core; log: Log }): Loop {
  return runLoop({
    name: 'DNSSEC',
    log,
    act: async () => {
      await core.tls.dnssec.check()
      return false
    },
    every: CHECK_EVERY_MS,
    breath: 0,
  })
}

/** Fetches again, once per day, the MTA-STS policies of domains that got mail within a week. Workers share the work. */
export function runStsLoop({ core, log }: { core: Core; log: Log }): Loop {
  return runLoop({
    name: 'MTA-STS',
    log,
    act: async (signal) => (await core.tls.sts.refreshDue({ limit: LIMIT, signal })) === LIMIT,
    every: EVERY_MS,
    breath: 0,
  })
}
