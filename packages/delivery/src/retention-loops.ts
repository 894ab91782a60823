import type { Core, Log } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

/** Deletes expired data. The loops are separate, since dropping a partition may wait for its readers. */
export function runRetentionLoops({ core, log }: { core: Core; log: Log }): Loop[] {
  const drop = async (): Promise<boolean> => {
    const tables = await core.retention.dropPartitions()
    if (tables.length > 0) log.info({ tables }, 'expired partitions dropped')
    return false
  }
  return [
    runLoop({ name: 'retention', log, act: drop, every: 30_000, breath: 1000 }),
    runLoop({ name: 'shorter retention', log, act: () => core.retention.shortenSome(), every: 30_000, breath: 50 }),
  ]
}
