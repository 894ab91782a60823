import type { BackupStore } from '@postrider/core'
import type { BaseBackup } from './base-backup.ts'
import { archivePath, firstGap, listArchived, segmentName, segmentNamed } from './wal-segments.ts'

/**
 * Returns the name of the first segment after the backup that is missing although later ones are archived; undefined if none is. Changes are
 * missing if the database ran without BACKUP_DIR: what followed cannot be restored from this backup.
 */
export async function missingSegment(store: BackupStore, backup: BaseBackup): Promise<string | undefined> {
  const last = segmentNamed(backup.lastSegment)
  if (!last) return undefined
  const archived = await listArchived(store, archivePath(backup.lastSegment))
  const gap = firstGap(archived, last.number + 1)
  return gap === undefined
    ? undefined
    : segmentName({ timeline: archived.at(-1)?.timeline ?? last.timeline, number: gap })
}
