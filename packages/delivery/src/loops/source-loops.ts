import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

/** Maximum number of sources per round. */
const LIMIT = 20
const EVERY_MS = 15_000

/**
 * Check the source addresses whose check is due: their DNS records, and whether block lists have them. Workers share the work; when one stops,
 * the others do its part. Two loops, so that block lists that do not answer delay no other check.
 */
export function runSourceLoops({ core, log }: { core: Core; log: Log }): Loop[] {
  const { checkDueRecords, checkDueListings } = core.sourceChecks
  const loop = (name: string, check: typeof checkDueRecords): Loop =>
    runLoop({
      name,
      log,
      act: async (signal) => (await check({ limit: LIMIT, signal })) === LIMIT,
      every: EVERY_MS,
      breath: 0,
    })
  return [loop('source', checkDueRecords), loop('block list', checkDueListings)]
}
