import { rmSync } from 'node:fs'
import {
  type BackupAddress,
  type BackupStore,
  backupAccess,
  openSession,
  PATIENCE,
  type VerifiedData,
  verifyData,
} from '@postrider/core'
import type { Progress } from '../importing/progress.ts'
import { type BaseBackup, requireBackups } from './base-backup.ts'
import { chooseBackup } from './choose-backup.ts'
import { missingSegment } from './missing-segment.ts'
import { withBackups } from './open-backups.ts'
import { recover } from './recover.ts'
import { makeTemporaryFolder, removingOnSignal } from './temporary-folder.ts'

export interface VerifyOptions {
  readonly from: BackupAddress
  /** The moment that is restored; the latest state if undefined. */
  readonly to: Date | undefined
  readonly progress: Progress
  readonly report: (line: string) => void
}

export interface Verified extends VerifiedData {
  readonly backup: BaseBackup
  /** The time of the last transaction that a restore would have. */
  readonly reached: Date
}

/**
 * Restores a backup to a temporary folder (TMPDIR), starts a server on it, reads and checks all of it, and deletes it.
 *
 * Throws CommandError if it cannot be restored. What is wrong in the restored database is in `problems`.
 */
export function verifyBackup(options: VerifyOptions): Promise<Verified> {
  return withBackups(options.from, PATIENCE.long, (store) => verifyIn(store, options))
}

async function verifyIn(store: BackupStore, { from, to, progress, report }: VerifyOptions): Promise<Verified> {
  await requireBackups(store)
  const backup = await chooseBackup(store, to)
  const dataDir = makeTemporaryFolder(report)
  return removingOnSignal(dataDir, () => verifyAt(dataDir, backup, store, { from, to, progress, report }))
}

async function verifyAt(
  dataDir: string,
  backup: BaseBackup,
  store: BackupStore,
  { from, to, progress, report }: VerifyOptions,
): Promise<Verified> {
  try {
    const access = backupAccess(from)
    const { sql, reached, stop } = await recover({ store, access, backup, dataDir, to, progress, report })
    const session = openSession(sql)
    try {
      report('reading all pages and indexes')
      await session`select set_config('statement_timeout', '0', false)`
      const verified = await verifyData(session)
      const missing = await missingSegment(store, backup)
      const gap =
        missing === undefined ? [] : [`the write-ahead log has a gap at ${missing}: later changes cannot be restored`]
      return {
        ...verified,
        problems: [...verified.problems, ...gap],
        backup,
        reached: reached ?? new Date(backup.finishedAt),
      }
    } finally {
      await session.end({ timeout: 5 })
      await stop()
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}
