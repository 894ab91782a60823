import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSession, type VerifiedData, verifyData } from '@postrider/core'
import type { Progress } from '../importing/progress.ts'
import { chooseBackup } from './choose-backup.ts'
import { type BaseBackup, requireBackupFolder } from './folder.ts'
import { missingSegment } from './missing-segment.ts'
import { recover } from './recover.ts'

export interface VerifyOptions {
  /** The backup folder. */
  readonly from: string
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
export async function verifyBackup({ from, to, progress, report }: VerifyOptions): Promise<Verified> {
  const folder = requireBackupFolder(from)
  const backup = chooseBackup(folder, to)
  const dataDir = mkdtempSync(join(tmpdir(), 'postrider-verify-'))
  try {
    const { sql, reached, stop } = await recover({ folder, backup, dataDir, to, progress, report })
    const session = openSession(sql)
    try {
      report('reading all pages and indexes')
      await session`select set_config('statement_timeout', '0', false)`
      const verified = await verifyData(session)
      const missing = missingSegment(folder, backup)
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
