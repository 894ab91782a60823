import { type Core, type Log, ObjectStoreError } from '@postrider/core'
import { type Loop, runLoop } from './loop.ts'

/** Deletes expired data. The loops are separate, since dropping a partition may wait for its readers. */
export function runRetentionLoops({ core, log }: { core: Core; log: Log }): Loop[] {
  const drop = async (): Promise<boolean> => {
    const tables = await core.retention.dropPartitions()
    if (tables.length > 0) log.info({ tables }, 'expired partitions dropped')
    return false
  }
  const onObjects = (act: () => Promise<boolean>) => async (): Promise<boolean> => {
    try {
      return await act()
    } catch (error) {
      if (!(error instanceof ObjectStoreError)) throw error
      log.warn({ reason: error.message }, 'bodies are not removed from object storage')
      return false
    }
  }
  const remove = onObjects(() => core.retention.removeSome())
  const sweep = onObjects(() => core.retention.sweepSome())
  return [
    runLoop({ name: 'body removal', log, act: remove, every: 15_000, breath: 50 }),
    runLoop({ name: 'body sweep', log, act: sweep, every: 60_000, breath: 200 }),
    runLoop({ name: 'retention', log, act: drop, every: 30_000, breath: 1000 }),
    runLoop({ name: 'shorter retention', log, act: () => core.retention.shortenSome(), every: 30_000, breath: 50 }),
  ]
}
