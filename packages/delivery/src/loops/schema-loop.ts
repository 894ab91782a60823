import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

const EVERY_MS = 30_000
/** Milliseconds between two lines of the log about a backfill. */
const REPORT_EVERY_MS = 30_000

/**
 * Applies the migrations that are applied while processes work: backfills in steps, indexes, and removals once no older process runs. One
 * worker does. Does nothing once all are applied.
 */
export function runSchemaLoop({ core, log }: { core: Core; log: Log }): Loop {
  let finished = false
  let reportedAt = performance.now()
  const report = (migration: string, rows: number, estimate: number) => {
    if (performance.now() - reportedAt < REPORT_EVERY_MS) return
    reportedAt = performance.now()
    log.info({ migration, rows, estimate }, 'backfill continues')
  }
  return runLoop({
    name: 'schema',
    readiness: core.readiness,
    log,
    async act(signal) {
      if (finished) return false
      const { applied, waiting, busy } = await core.schema.applyLater({ report, signal })
      if (applied.length > 0) log.info({ migrations: applied }, 'migrations applied')
      finished = !waiting && !busy && !signal.aborted
      return false
    },
    every: EVERY_MS,
    breath: 0,
  })
}
