import { BASE_BACKUPS, BackupError, type BackupStore, backupNames, summaryPath, UNFINISHED_FILE } from '@postrider/core'
import { readBackup } from './base-backup.ts'
import { PIECES, piecesOf } from './pack.ts'
import { isWhole, segmentNamed, segmentOf, WAL } from './wal-segments.ts'

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
  const from = old.length > 0 ? await firstNeeded(store, names[old.length]) : undefined
  if (from === undefined) return { backups: old.length, segments: 0 }
  // With the server's notes of backups, whose names begin with that of a segment.
  const needless = (await store.list(WAL)).filter((path) => (segmentOf(path)?.number ?? from) < from)
  await removeAll(store, needless)
  return { backups: old.length, segments: needless.filter(isWhole).length }
}

/** The number of the first segment that a base backup needs, and all later ones; undefined if it cannot be told: then all are kept. */
async function firstNeeded(store: BackupStore, name: string | undefined): Promise<number | undefined> {
  try {
    const backup = name === undefined ? undefined : await readBackup(store, name)
    return backup && segmentNamed(backup.firstSegment)?.number
  } catch (error) {
    // After a rotation of SECRET_KEY, a former key may be the only one that can read it.
    if (error instanceof BackupError && error.kind !== 'unavailable') return undefined
    throw error
  }
}

/** Deletes what backups left that were interrupted, or whose deletion was. No backup of this database may be in progress. */
export async function removeUnfinished(store: BackupStore): Promise<void> {
  const complete = new Set((await backupNames(store)).map(piecesOf))
  const left = (await store.list(PIECES)).filter((path) => !complete.has(path.slice(0, path.lastIndexOf('/'))))
  const cut = (await store.list(BASE_BACKUPS)).filter((path) => UNFINISHED_FILE.test(path))
  await removeAll(store, [...left, ...cut])
}

export async function removeAll(store: BackupStore, paths: readonly string[]): Promise<void> {
  const left = paths.values()
  const remove = async (): Promise<void> => {
    for (const path of left) await store.remove(path)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, remove))
}
