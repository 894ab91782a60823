import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

/** Clears away what is past its time. Apart: a partition that somebody reads may be waited for. */
export function runRetentionLoops({ core, log }: { core: Core; log: Log }): Loop[] {
  const drop = async (): Promise<boolean> => {
    const tables = await core.retention.dropPartitions()
    if (tables.length > 0) log.info({ tables }, 'partitions past their time were dropped')
    return false
  }
  return [
    runLoop({ name: 'retention', log, act: drop, every: 30_000, breath: 1000 }),
    runLoop({ name: 'shorter retention', log, act: () => core.retention.shortenSome(), every: 30_000, breath: 50 }),
  ]
}
