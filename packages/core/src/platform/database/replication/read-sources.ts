import type { Config } from '../../config/config.ts'
import type { Log } from '../../process/log.ts'
import type { Sql } from '../database.ts'
import { createReads, type Reads } from '../reads.ts'
import { watchReadReplica } from './read-replica.ts'

export interface ReadSources {
  /** Returns reads for one call whose answers may be some seconds old. */
  readonly oldReads: () => Reads
  /** Those of the primary. */
  readonly reads: Reads
  close(): Promise<void>
}

export interface ReadSourcesOptions {
  readonly primary: Sql
  /** The pool of DATABASE_READ_URL, which is closed with the sources. */
  readonly standby: Sql | undefined
  readonly config: Pick<Config, 'databaseReadMaxLag'>
  /** The primary's time. */
  readonly now: () => number
  readonly log: Log
}

export function openReads({ primary, standby, config, now, log }: ReadSourcesOptions): ReadSources {
  const maxLag = config.databaseReadMaxLag
  const replica = standby && watchReadReplica({ primary, pool: standby, maxLag, now, log })
  return {
    oldReads: () => createReads({ primary, standby: replica, now }),
    reads: createReads({ primary, standby: undefined, now }),
    close: async () => replica?.close(),
  }
}
