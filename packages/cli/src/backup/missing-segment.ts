import type { BackupFolder, BaseBackup } from './folder.ts'
import { firstGap, listArchived, segmentName, segmentNamed } from './wal-segments.ts'

/**
 * Returns the name of the first segment after the backup that is missing although later ones are archived; undefined if none is. Changes are
 * missing if the database ran without BACKUP_DIR: what followed cannot be restored from this backup.
 */
export function missingSegment(folder: BackupFolder, backup: BaseBackup): string | undefined {
  const last = segmentNamed(backup.lastSegment)
  if (!last) return undefined
  const archived = listArchived(folder.wal)
  const gap = firstGap(archived, last.number + 1)
  return gap === undefined
    ? undefined
    : segmentName({ timeline: archived.at(-1)?.timeline ?? last.timeline, number: gap })
}
