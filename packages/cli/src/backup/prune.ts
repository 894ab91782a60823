import { type BackupStore, backupNames, summaryPath } from '@postrider/core'
import { readBackup } from './base-backup.ts'
import { PIECES, piecesOf } from './pack.ts'
import { listArchived, segmentNamed, WAL } from './wal-segments.ts'

/** Number of base backups and of segments of the write-ahead log that were deleted. */
export interface Pruned {
  readonly backups: number
  readonly segments: number
}

/** Files that are deleted at the same time. */
const AT_ONCE = 8

/** Deletes all but the latest `keep` base backups, and the write-ahead log that none of those needs. Histories of timelines stay. */
export async function prune(store: BackupStore, keep: number): Promise<Pruned> {
  const names = await backupNames(store)
  const old = names.slice(0, Math.max(0, names.length - keep))
  for (const name of old) {
    // The summary first, so that one that is deleted in part is not taken for a backup.
    await store.remove(summaryPath(name))
    await removeAll(store, await store.list(piecesOf(name)))
  }
  if (old.length === 0) return { backups: 0, segments: 0 }
  const kept: number[] = []
  for (const name of names.slice(old.length)) {
    const segment = segmentNamed((await readBackup(store, name))?.firstSegment ?? '')
    if (segment) kept.push(segment.number)
  }
  if (kept.length === 0) return { backups: old.length, segments: 0 }
  const from = Math.min(...kept)
  const needless = (await listArchived(store)).filter(({ number }) => number < from)
  const beginnings = new Set(needless.map(({ path }) => path.slice(0, BEGINNING)))
  // With the server's notes of backups, whose names begin with that of a segment.
  await removeAll(
    store,
    (await store.list(WAL)).filter((path) => beginnings.has(path.slice(0, BEGINNING))),
  )
  return { backups: old.length, segments: needless.length }
}

const BEGINNING = WAL.length + 1 + 24

/** Deletes what backups left that were interrupted, or whose deletion was. No backup of this database may be in progress. */
export async function removeUnfinished(store: BackupStore): Promise<void> {
  const complete = new Set((await backupNames(store)).map(piecesOf))
  const left = (await store.list(PIECES)).filter((path) => !complete.has(path.slice(0, path.lastIndexOf('/'))))
  await removeAll(store, left)
}

export async function removeAll(store: BackupStore, paths: readonly string[]): Promise<void> {
  const left = paths.values()
  const remove = async (): Promise<void> => {
    for (const path of left) await store.remove(path)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, remove))
}
