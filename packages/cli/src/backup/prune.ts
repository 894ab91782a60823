import { readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type BackupFolder, listBackups, UNFINISHED } from './folder.ts'
import { listArchived, segmentNamed } from './wal-segments.ts'

/** Number of base backups and of segments of the write-ahead log that were deleted. */
export interface Pruned {
  readonly backups: number
  readonly segments: number
}

/** Deletes all but the latest `keep` base backups, and the write-ahead log that none of those needs. Histories of timelines stay. */
export function prune(folder: BackupFolder, keep: number): Pruned {
  const backups = listBackups(folder)
  const old = backups.slice(0, Math.max(0, backups.length - keep))
  for (const { name, folder: path } of old) {
    // Renamed first, so that one that is deleted in part is not taken for a backup.
    const aside = join(folder.base, `${UNFINISHED}${name}`)
    renameSync(path, aside)
    rmSync(aside, { recursive: true, force: true })
  }
  const kept = backups.slice(old.length).flatMap(({ firstSegment }) => segmentNamed(firstSegment)?.number ?? [])
  if (old.length === 0 || kept.length === 0) return { backups: old.length, segments: 0 }
  const from = Math.min(...kept)
  const needless = listArchived(folder.wal).filter(({ number }) => number < from)
  const names = new Set(needless.map(({ file }) => file.slice(0, 24)))
  for (const file of readdirSync(folder.wal)) {
    // With the server's notes of backups, whose names begin with that of a segment.
    if (names.has(file.slice(0, 24))) rmSync(join(folder.wal, file), { force: true })
  }
  return { backups: old.length, segments: needless.length }
}
